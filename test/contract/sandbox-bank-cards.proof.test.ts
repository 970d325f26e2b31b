import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CardFundingRequest } from '../../src/core/providers/card-issuer.js';
import { createSandboxBankIssuer } from '../../src/core/providers/sandbox-bank/card-adapter.js';
import { startSandboxBank } from '../../sandbox-bank/server.js';
import { approve, cardClient, startCardService } from '../sandbox-bank/issuer/support.js';
import {
  bankClient,
  eventually,
  optionsAt,
  removeFolder,
  SECRET,
  temporaryFolder,
} from '../sandbox-bank/support.js';
import { describeCardIssuer } from './card-issuer.js';
import type { CardIssuerHarness } from './card-subject.js';

const never = new AbortController().signal;
const R = { reference: 'r', handle: null };

type Traits = { cardBalances?: 'issuer' | 'ours'; cardStateSequence?: 'issuer' | 'ours' };

function issuerAt(url: string, deduplicates = true, traits: Traits = {}) {
  return createSandboxBankIssuer({ ...optionsAt(url, deduplicates), ...traits });
}

const harnessWith =
  (deduplicate: boolean, traits: Traits = {}) =>
  async (): Promise<CardIssuerHarness> => {
    const folder = temporaryFolder();
    let answering: Promise<unknown> = Promise.resolve();
    let isAway = false;
    const service = await startCardService(() =>
      isAway ? { status: 503 } : answering.then(approve),
    );
    const bank = await startSandboxBank({
      dataDir: folder,
      secret: SECRET,
      deduplicate,
      conclusiveAfterMs: 1_000,
      cardCallbackUrl: service.url,
      ...traits,
    });
    const client = cardClient(bankClient(bank.url));
    return {
      issuer: issuerAt(bank.url, deduplicate, traits),
      unreachable: issuerAt('http://127.0.0.1:1', deduplicate, traits),
      issues: {
        issued: 'customer-789',
        later: 'customer-001',
        refused: 'customer-002',
        withoutAnswer: 'customer-004',
        lost: 'customer-005',
      },
      fundings: {
        funded: 'order-789',
        later: 'order-001',
        refused: 'order-002',
        withoutAnswer: 'order-004',
        lost: 'order-005',
        pending: 'order-006',
        failingFirst: 'order-007',
        reversedLater: 'order-008',
        outOfOrder: 'order-009',
        throttledFirst: 'order-010',
        slow: 'order-012',
        slowForGood: 'order-013',
      },
      states: {
        set: 'request-789',
        refusedTwice: 'request-002',
        withoutAnswer: 'request-004',
        lostOnce: 'request-005',
        failingFirst: 'request-007',
      },
      disputes: {
        accepted: 'case-789',
        later: 'case-001',
        refused: 'case-002',
        withoutAnswer: 'case-004',
        lost: 'case-005',
        notWithdrawable: 'case-015',
      },
      refusals: {
        issue: 'not_eligible',
        funding: 'funding_refused',
        state: 'not_now',
        dispute: 'dispute_refused',
      },
      callbacksAbout: (reference, count) => service.wait(reference, count),
      async authorizationRequest(card, amountMinor) {
        const { body } = await client.authorize(card, { amount_minor: amountMinor });
        const [request] = await service.wait(body.token, 1);
        if (!request) throw new Error('no request');
        return request;
      },
      async unansweredRequest(card, amount_minor) {
        let answer: (value?: unknown) => void = () => undefined;
        answering = new Promise((resolve) => (answer = resolve));
        const paid = client.authorize(card, { amount_minor });
        const request = await eventually(() =>
          service.received.find(({ body }) => body.data.amount_minor === amount_minor),
        );
        return {
          request,
          async approve() {
            answer();
            await paid;
          },
        };
      },
      async requestsWithoutAnswer(card, amount_minor) {
        isAway = true;
        const { body } = await client.authorize(card, { amount_minor });
        isAway = false;
        const about = service.about(body.token);
        return about.filter((each) => each.body.event === 'card.authorization_requested');
      },
      async reportedTogether(card, amount_minor) {
        const merchant = { name: 'Shop 014', category: '5411', country: 'NG' };
        const { body } = await client.authorize(card, { amount_minor, merchant });
        const [request, message] = await service.wait(body.token, 2);
        if (!request || !message) throw new Error('no message');
        return [request, message];
      },
      async reportedClearings(token, amounts) {
        const messages = [];
        for (const [n, amount_minor] of amounts.entries()) {
          await client.end(token, { outcome: 'cleared', amount_minor, final: false });
          messages.push(...(await service.wait(token, n + 2)).slice(n + 1));
        }
        return messages;
      },
      async close() {
        await bank.close();
        await service.close();
        removeFolder(folder);
      },
    };
  };

for (const deduplicate of [true, false]) {
  describeCardIssuer(`sandbox-bank, de-duplication ${deduplicate}`, harnessWith(deduplicate));
}
describeCardIssuer(
  'sandbox-bank, without balances and versions',
  harnessWith(true, { cardBalances: 'ours', cardStateSequence: 'ours' }),
  { balances: 'ours', stateSequence: 'ours' },
);

describe('answers that the issuer’s documentation excludes', () => {
  let answer: { status: number; body: string };
  const server = createServer((req, res) => {
    req.resume();
    res.writeHead(answer.status).end(answer.body);
  });
  let url: string;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const order: CardFundingRequest = {
    reference: 'r',
    clientReference: 'order-1',
    card: 'card_1',
    amountMinor: 100n,
    currency: 'NGN',
    requestedAt: new Date(),
  };
  const stateOrder = {
    card: 'card_1',
    state: 'locked' as const,
    version: 3,
    clientReference: 'request-1',
    requestedAt: new Date(),
  };
  const cardOrder = {
    reference: 'r',
    clientReference: 'customer-1',
    type: 'virtual' as const,
    name: null,
    requestedAt: new Date(),
  };
  const funded = { reference: 'r', status: 'funded', amount_minor: 100, currency: 'NGN' };
  const issued = {
    reference: 'r',
    status: 'issued',
    card: 'card_1',
    brand: 'verve',
    last4: '4242',
    expiry_month: 11,
    expiry_year: 2029,
    state: 'locked',
    version: 3,
  };
  const refused = (code: string) => JSON.stringify({ error: { code } });

  const everyCall = () => {
    const issuer = issuerAt(url);
    return Promise.all([
      issuer.issue(cardOrder, never),
      issuer.findCard(R, never),
      issuer.fund(order, never),
      issuer.findFunding(R, never),
      issuer.reverseFunding(R, never),
      issuer.setState(stateOrder, never),
      issuer.readState('card_1', never),
    ]);
  };

  test.each([
    ['a 502 of a proxy', 502, '<html>', 'server_error'],
    ['HTML', 200, '<html>', 'unreadable'],
    ['nothing', 200, '', 'unreadable'],
    ['another funding', 200, JSON.stringify({ ...funded, reference: 'other' }), 'unreadable'],
    ['another card', 200, JSON.stringify({ ...issued, reference: 'x', card: 'x' }), 'unreadable'],
    ['a new state', 200, JSON.stringify({ ...funded, status: 'held' }), 'unreadable'],
    ['another currency', 200, JSON.stringify({ ...funded, currency: 'USD' }), 'unreadable'],
    ['a bare 404', 404, '{}', 'unreadable'],
    ['a 404 of another kind', 404, refused('no_such_route'), 'unreadable'],
    ['a bare 409', 409, '{}', 'conflict'],
    ['a wrong secret', 401, refused('unauthorized'), 'unreadable'],
    ['a redirect', 302, '{}', 'unreadable'],
  ])('%s is unknown to every call', async (_what, status, body, reason) => {
    answer = { status, body };
    // A query has no reference that could be another request's.
    const reasons = reason === 'conflict' ? ['conflict', 'unreadable'] : [reason];
    for (const each of await everyCall()) {
      expect(each.kind === 'unknown' && reasons.includes(each.reason)).toBe(true);
    }
  });

  test.each([
    ['an inexact amount', { ...funded, amount_minor: 0.5 }],
    ['a funding that is still there', funded],
  ])('%s is no proof of a reversal', async (_what, body) => {
    answer = { status: 200, body: JSON.stringify(body) };
    expect(await issuerAt(url).reverseFunding(R, never)).toMatchObject({ kind: 'unknown' });
  });

  test.each([
    ['a card number for an id', { ...issued, card: '4242424242424242' }],
    ['six digits for the last four', { ...issued, last4: '424242' }],
  ])('%s is not let in', async (_what, body) => {
    answer = { status: 200, body: JSON.stringify(body) };
    expect(await issuerAt(url).findCard(R, never)).toMatchObject({ kind: 'unknown' });
  });

  test.each([
    ['another state', { ...issued, state: 'open' }],
    ['another version', { ...issued, version: 2 }],
  ])('a 200 with %s does not say that the state was set', async (_what, body) => {
    answer = { status: 200, body: JSON.stringify(body) };
    expect(await issuerAt(url).setState(stateOrder, never)).toMatchObject({ kind: 'unknown' });
  });

  test('a card refusal with an unknown reason is a refusal with a code of ours', async () => {
    const body = { ...funded, status: 'refused', code: 'it said: 4242' };
    answer = { status: 200, body: JSON.stringify(body) };
    expect(await issuerAt(url).findFunding(R, never)).toMatchObject({
      kind: 'rejected',
      code: 'provider_declined',
    });
  });

  test('a 429 of the issuer is a pause for a submission, and unknown for a verification', async () => {
    answer = { status: 429, body: 'slow down' };
    const kinds = (await everyCall()).map(({ kind }) => kind);
    expect(kinds).toEqual([
      'throttled',
      'unknown',
      'throttled',
      'unknown',
      'throttled',
      'throttled',
      'unknown',
    ]);
  });
});
