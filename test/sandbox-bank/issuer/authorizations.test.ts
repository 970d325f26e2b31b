import { startSandboxBank, type RunningSandboxBank } from '../../../sandbox-bank/server.js';
import {
  approve,
  cardClient,
  startCardService,
  type CardBody,
  type CardClient,
  type Reaction,
} from './support.js';
import { bankClient, removeFolder, SECRET, temporaryFolder } from '../support.js';

let folder: string;
let service: Awaited<ReturnType<typeof startCardService>>;
let react: () => Reaction;
let bank: RunningSandboxBank;
let client: CardClient;
let card: CardBody;

beforeAll(async () => {
  folder = temporaryFolder();
  service = await startCardService(() => react());
  bank = await startSandboxBank({ dataDir: folder, secret: SECRET, cardCallbackUrl: service.url });
  client = cardClient(bankClient(bank.url));
  card = await client.newCard();
});

beforeEach(() => {
  react = approve;
});

afterAll(async () => {
  await bank.close();
  await service.close();
  removeFolder(folder);
});

test('the issuer sends a signed authorization request, and follows the service’s decision', async () => {
  const merchant = { name: 'Mama Put', category: '5812', country: 'NG' };
  for (const [approved, code, kind] of [
    [true, 'approved', 'authorized'],
    [false, 'insufficient_funds', 'declined'],
  ] as const) {
    react = () => ({ status: 200, body: { approved, code } });
    const { body } = await client.authorize(card.reference, { channel: 'pos', merchant });
    expect(body).toEqual({
      token: expect.any(String) as string,
      message_id: expect.any(String) as string,
      approved,
      approved_amount_minor: approved ? 5_000 : 0,
      code,
    });
    const about = service.about(body.token);
    // A decline is reported too, at some later time; no other event is.
    const requested = approved ? about : about.filter(({ body: b }) => b.event !== 'card.declined');
    expect(requested.map((each) => each.body)).toEqual([
      expect.objectContaining({
        id: body.message_id,
        event: 'card.authorization_requested',
        data: expect.objectContaining({
          card: card.card,
          message_id: body.message_id,
          amount_minor: 5_000,
          channel: 'pos',
          merchant,
        }) as unknown,
      }),
    ]);
    expect(requested[0]?.headers['x-sandbox-bank-signature']).toMatch(/^[0-9a-f]{128}$/);
    expect(await client.effects({ reference: body.token })).toEqual([
      expect.objectContaining({
        kind,
        client_reference: card.reference,
        card: card.card,
        amount_minor: 5_000,
      }),
    ]);
  }
});

test('the issuer repeats a request with the same token after an error, and the second answer counts', async () => {
  let calls = 0;
  react = () => ((calls += 1) === 1 ? { status: 503 } : approve());
  const { body } = await client.authorize(card.card);
  expect(body.approved).toBe(true);
  const [first, second, ...more] = service.about(body.token);
  expect(second?.raw.toString()).toBe(first?.raw.toString());
  expect(more).toEqual([]);
});

test.each([
  ['silence', null, 2],
  ['errors', { status: 500 }, 2],
  ['a refusal of the request', { status: 401 }, 1],
  ['an answer that says nothing', { status: 200, body: { approved: 'yes' } }, 1],
])(
  '%s: the payment is declined, and the service is notified, as it may hold the money',
  async (_what, reaction, received) => {
    react = () => reaction;
    const { body } = await client.authorize(card.card);
    expect(body).toMatchObject({ approved: false, code: 'no_answer' });
    const deliveries = await service.wait(body.token, received + 1);
    expect(deliveries.map((each) => each.body.event)).toEqual([
      ...Array.from({ length: received }, () => 'card.authorization_requested'),
      'card.declined',
    ]);
    expect(await client.kinds(body.token)).toEqual(['declined']);
    expect((await client.end(body.token, { outcome: 'cleared' })).body.error?.code).toBe(
      'not_authorized',
    );
  },
);

test('a decline of the service is reported to it too, as it may hold money for a request whose answer was not received', async () => {
  let calls = 0;
  const declined = { status: 200, body: { approved: false, code: 'service_unavailable' } };
  react = () => ((calls += 1) === 1 ? { status: 503 } : declined);
  const { body } = await client.authorize(card.card);
  expect(body).toMatchObject({ approved: false, code: 'service_unavailable' });
  const [, , reported] = await service.wait(body.token, 3);
  expect(reported?.body).toMatchObject({
    event: 'card.declined',
    data: { reference: body.token, code: 'service_unavailable' },
  });
});

test('a payment with a card that is locked or closed at the issuer is declined without a request', async () => {
  const { card: id } = await client.newCard();
  for (const [state, version] of [
    ['locked', 1],
    ['closed', 2],
  ] as const) {
    await client.setState(id, state, version);
    const { body } = await client.authorize(id);
    expect(body).toMatchObject({ approved: false, code: `card_${state}` });
    expect(service.about(body.token)).toEqual([]);
    expect(await client.kinds(body.token)).toEqual(['declined']);
  }
  const unknown = await client.authorize('card_nowhere');
  expect([unknown.status, unknown.body.error?.code]).toEqual([404, 'card_not_found']);
});

test.each([
  [{ outcome: 'cleared' }, 'cleared', 'card.cleared', 5_000],
  [{ outcome: 'cleared', amount_minor: 1_200 }, 'cleared', 'card.cleared', 1_200],
  [{ outcome: 'cleared', amount_minor: 6_000 }, 'cleared', 'card.cleared', 6_000],
  [{ outcome: 'reversed' }, 'authorization_reversed', 'card.authorization_reversed', 5_000],
  [{ outcome: 'expired' }, 'authorization_expired', 'card.authorization_expired', 5_000],
])(
  'an authorization has the set outcome (%j), and the service is notified',
  async (request, kind, event, amount) => {
    const { body } = await client.authorize(card.card);
    expect((await client.end(body.token, request)).body.status).toBe(kind);
    const [, callback] = await service.wait(body.token, 2);
    expect(callback?.body).toMatchObject({
      event,
      data: { card: card.card, client_reference: card.reference, amount_minor: amount },
    });
    expect(await client.effects({ reference: body.token })).toMatchObject([
      { kind: 'authorized', amount_minor: 5_000 },
      { kind, amount_minor: amount },
    ]);
  },
);

test('a further request of a payment has the token and a message of its own, and both amounts are held', async () => {
  const { body: first } = await client.authorize(card.card);
  const more = { authorization: first.token, kind: 'increment', amount_minor: 700 };
  const { body: second } = await client.authorize(card.card, more);
  expect(second).toMatchObject({ token: first.token, approved: true, approved_amount_minor: 700 });
  expect(second.message_id).not.toBe(first.message_id);
  const requests = service.about(first.token).map(({ body }) => body.data);
  expect(requests).toMatchObject([
    { kind: 'authorization', message_id: first.message_id, amount_minor: 5_000 },
    { kind: 'increment', message_id: second.message_id, amount_minor: 700 },
  ]);
  const ended = await client.end(first.token, {
    outcome: 'cleared',
    amount_minor: 1_000,
    final: false,
  });
  expect(ended.body).toMatchObject({ status: 'cleared', held_minor: 4_700 });
  const unknown = await client.authorize(card.card, { authorization: 'nothing' });
  expect(unknown.body.error?.code).toBe('authorization_not_found');
});

test('a financial request of a payment is cleared at once, and leaves the hold of the others', async () => {
  const { body: first } = await client.authorize(card.card);
  const more = {
    authorization: first.token,
    kind: 'financial',
    amount_minor: 700,
    hold_minor: 900,
  };
  await client.authorize(card.card, more);
  const reversed = await client.end(first.token, { outcome: 'reversed', amount_minor: 200 });
  expect(reversed.body).toMatchObject({ held_minor: 4_800 });
});

test('a payment may be cleared in parts, reversed in part, refunded and corrected; each is reported under an id of its own', async () => {
  const { body } = await client.authorize(card.card);
  const outcomes = [
    [{ outcome: 'cleared', amount_minor: 1_000, final: false }, 'card.cleared'],
    [{ outcome: 'reversed', amount_minor: 500 }, 'card.authorization_reversed'],
    [{ outcome: 'cleared' }, 'card.cleared'],
    [{ outcome: 'refunded', amount_minor: 300 }, 'card.refunded'],
    [{ outcome: 'refund_reversed', amount_minor: 300 }, 'card.refund_reversed'],
    [{ outcome: 'corrected', amount_minor: -50 }, 'card.corrected'],
  ] as const;
  for (const [outcome] of outcomes) {
    expect((await client.end(body.token, outcome)).status).toBe(200);
  }
  const reports = (await service.wait(body.token, 7)).slice(1).map((each) => each.body);
  expect(reports.map(({ event }) => event).toSorted()).toEqual(
    outcomes.map(([, event]) => event).toSorted(),
  );
  expect(new Set(reports.map(({ data }) => data['message_id'])).size).toBe(6);
  const cleared = reports.filter(({ event }) => event === 'card.cleared').map(({ data }) => data);
  expect(cleared.map((each) => `${each.amount_minor} ${String(each['final'])}`).toSorted()).toEqual(
    ['1000 false', '3500 true'],
  );
  expect((await client.effects({ reference: body.token })).map(({ kind }) => kind)).toEqual([
    'authorized',
    'cleared',
    'authorization_reversed',
    'cleared',
    'refunded_to_card',
    'card_refund_reversed',
    'clearing_corrected',
  ]);
});

test('an advice tells the service what the network approved in its place, without a request', async () => {
  const { body } = await client.authorize(card.card, { kind: 'advice' });
  expect(body).toMatchObject({ approved: true, code: 'stand_in' });
  const [told] = await service.wait(body.token, 1);
  expect(told?.body).toMatchObject({
    event: 'card.authorization_advice',
    data: { message_id: body.message_id, amount_minor: 5_000 },
  });
});

test('a fault affects its own call only: a funding fails, a decision is not received, a card is issued', async () => {
  const { faults } = bankClient(bank.url);
  const rule = (call: string, kind: string) => ({ call, kind, probability: 1 });
  const rules = [rule('fund', 'error_500'), rule('authorization', 'drop_after')];
  await faults({ seed: 1, rules });
  const issued = await client.issue(client.cardRequest('789'));
  const request = client.fundingRequest(card.card, '789');
  const funded = await client.fund(request);
  const { body } = await client.authorize(card.card);
  await faults({});
  expect([issued.status, funded.status]).toEqual([201, 500]);
  expect(await client.kinds(request.reference)).toEqual([]);
  // The service has approved twice, and neither answer was received.
  expect(body).toMatchObject({ approved: false, code: 'no_answer' });
  await service.wait(body.token, 3);
});

const now = new Date().toISOString();
const valid = {
  '/v1/cards': {
    reference: 'r',
    client_reference: 'c',
    type: 'virtual',
    name: null,
    requested_at: now,
  },
  '/v1/fundings': {
    reference: 'r',
    client_reference: 'c',
    card: 'card_1',
    amount_minor: 1,
    currency: 'NGN',
    requested_at: now,
  },
  '/v1/cards/card_1/state': { state: 'open', version: 1, client_reference: 'c', requested_at: now },
  '/_sandbox/authorizations': { card: 'card_1', amount_minor: 1 },
  '/_sandbox/authorizations/auth_1': { outcome: 'cleared' },
};

test.each([
  ['/v1/cards', { type: 'plastic' }, 'type'],
  ['/v1/cards', { name: 7 }, 'name'],
  ['/v1/cards', { pan: '4242424242424242' }, 'pan'],
  ['/v1/fundings', { amount_minor: 0 }, 'amount_minor'],
  ['/v1/fundings', { card: 'a/b' }, 'card'],
  ['/v1/cards/card_1/state', { version: 0 }, 'version'],
  ['/v1/cards/card_1/state', { state: 'lost' }, 'state'],
  ['/_sandbox/authorizations', { merchant: { country: 'Nigeria' } }, 'merchant.country'],
  ['/_sandbox/authorizations/auth_1', { outcome: 'expired', amount_minor: 1 }, 'amount_minor'],
] as const)('%s with %j is refused, naming the field', async (path, change, field) => {
  const before = await client.effects();
  const method = path.endsWith('/state') ? 'PUT' : 'POST';
  const body = JSON.stringify({ ...valid[path], ...change });
  const answer = await bankClient(bank.url).call(path, { method, body });
  expect([answer.status, answer.body]).toMatchObject([400, { error: { field } }]);
  expect(await client.effects()).toEqual(before);
});
