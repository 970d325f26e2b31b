import type { z } from 'zod';
import { setTimeout as sleep } from 'node:timers/promises';
import type { cardAuthorizationResource } from '../../src/capabilities/card-authorizations/schema.js';
import type { CardAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import { authorizationWorkflowId } from '../../src/capabilities/card-authorizations/workflow-contract.js';
import { OPEN_SECURITY, type Card } from '../../src/capabilities/cards/record.js';
import { cardClient, type CardClient } from '../support/cards.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import {
  authorizationEvent,
  authorizationRequest,
  issuerClient,
  type IssuerClient,
} from '../support/issuer.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

type AuthorizationView = z.infer<typeof cardAuthorizationResource>;

let service: Service;
let tenant: TestTenant;
let cards: CardClient;
let issuer: IssuerClient;

beforeAll(async () => {
  service = await shareService();
  tenant = await service.tenant({ balanceMinor: 1_000_000 });
  cards = cardClient(tenant);
  issuer = issuerClient(service);
});
afterAll(async () => {
  const problems = await service.problems();
  await service.close();
  expect(problems).toEqual([]);
});

const records = () => service.deps.database.db.collection<CardAuthorization>('card_authorizations');
const stored = async (id: string): Promise<Card> => {
  const card = await service.deps.cards.store.find(id);
  if (!card) throw new Error(`there is no ${id}`);
  return card;
};
/** The issuer's id of a card. */
const nameOf = async (id: string) => (await stored(id)).issued?.issuer_card_id ?? '';

/** A card that has the wallet behind it, and the wallet of a tenant of its own. */
async function jitCard(balanceMinor = 100_000) {
  const own = await service.tenant({ balanceMinor });
  const client = cardClient(own);
  const { id } = await client.issue({ funding: 'jit' });
  const list = async (query = '') =>
    (await client.call<AuthorizationView[]>('GET', `/cards/${id}/authorizations${query}`)).body;
  return {
    id,
    own,
    list,
    name: await nameOf(id),
    balance: () => own.balance(),
    secure: (settings: Record<string, unknown>) =>
      client.call('PUT', `/cards/${id}/security`, { ...OPEN, ...settings }),
    /** Waits until the latest payment is as wanted. */
    becomes: (wanted: Partial<AuthorizationView>) =>
      eventually(`the payment is ${JSON.stringify(wanted)}`, async () => {
        const [found] = (await list()).data;
        const entries = Object.entries(found ?? {});
        const fits = Object.entries(wanted).every(([key, value]) =>
          entries.some(([has, is]) => has === key && is === value),
        );
        return fits ? found : undefined;
      }),
  };
}

const OPEN = {
  channels: OPEN_SECURITY.channels,
  per_transaction_limit_minor: null,
  daily_limit_minor: null,
  allowed_countries: [],
  blocked_merchant_categories: [],
};

describe('a payment', () => {
  test('a payment is approved, held and listed; its clearing is captured, and the rest is released', async () => {
    const card = await jitCard();
    const { token, approved, code } = await issuer.pay(card.id, { channel: 'pos' });
    expect([approved, code]).toEqual([true, 'approved']);
    expect(await card.balance()).toEqual({ available: 95_000, held: 5_000 });
    const { data, pagination } = await card.list();
    expect(data).toEqual([
      expect.objectContaining({
        card_id: card.id,
        status: 'approved',
        held_minor: 5_000,
        channel: 'pos',
      }),
    ]);
    expect(pagination).toMatchObject({ total: 1, has_more: false });
    expect(await issuer.end(token, 'cleared', 4_200)).toBe(200);
    await card.becomes({ status: 'cleared', cleared_minor: 4_200, held_minor: 0 });
    expect(await card.balance()).toEqual({ available: 95_800, held: 0 });
  });

  test.each([
    ['reversed', 'reversed'],
    ['expired', 'expired'],
  ] as const)('an authorization that is %s releases its hold', async (outcome, status) => {
    const card = await jitCard();
    const { token } = await issuer.pay(card.id);
    await issuer.end(token, outcome);
    await card.becomes({ status, held_minor: 0 });
    expect(await card.balance()).toEqual({ available: 100_000, held: 0 });
    expect(await stored(card.id)).toMatchObject({ open_holds: 0 });
  });

  test('an approval starts no workflow; one begins when the issuer must be asked, and ends with the hold', async () => {
    const card = await jitCard();
    const { token } = await issuer.pay(card.id);
    const { id } = await card.becomes({ status: 'approved' });
    const record = await records().findOne({ _id: id });
    expect(record?.next_check_at).toEqual(record?.verify_at);
    const { client } = service.deps.temporal;
    const handle = client.workflow.getHandle(authorizationWorkflowId(id));
    const isRunning = async () =>
      (await handle.describe().catch(() => null))?.status.name === 'RUNNING';
    expect(await isRunning()).toBe(false);
    const due = { verify_at: new Date(), next_check_at: new Date() };
    await records().updateOne({ _id: id }, { $set: due, $inc: { version: 1 } });
    await eventually('it follows the hold', async () => ((await isRunning()) ? true : undefined));
    await issuer.end(token, 'cleared');
    await handle.result();
    expect(await records().findOne({ _id: id })).toMatchObject({
      next_check_at: null,
      held_minor: 0n,
    });
  });

  test('an increment is held on top, a partial clearing keeps the rest held, and a refund returns to the wallet', async () => {
    const card = await jitCard(10_000);
    const { token } = await issuer.pay(card.id);
    const more = { authorization: token, kind: 'increment', amount_minor: 3_000 } as const;
    expect(await issuer.pay(card.id, more)).toMatchObject({ token, approved: true });
    expect(await card.balance()).toEqual({ available: 2_000, held: 8_000 });
    const tooMuch = await issuer.pay(card.id, { ...more, amount_minor: 500_000 });
    expect(tooMuch).toMatchObject({ approved: false, code: 'insufficient_balance' });
    expect(await card.balance()).toEqual({ available: 2_000, held: 8_000 });
    await issuer.end(token, 'cleared', 1_000, { final: false });
    await card.becomes({ status: 'partially_cleared', held_minor: 7_000 });
    expect(await card.balance()).toEqual({ available: 2_000, held: 7_000 });
    await issuer.end(token, 'cleared', 6_000);
    await card.becomes({ status: 'cleared', cleared_minor: 7_000 });
    await issuer.end(token, 'refunded', 2_500);
    await card.becomes({ status: 'cleared', refunded_minor: 2_500 });
    expect(await card.balance()).toEqual({ available: 5_500, held: 0 });
  });

  test('a payment after its hold has ended is held again until its own end', async () => {
    const card = await jitCard();
    const { token } = await issuer.pay(card.id);
    await issuer.end(token, 'reversed');
    await card.becomes({ status: 'reversed' });
    const again = await issuer.pay(card.id, { authorization: token, amount_minor: 2_000 });
    expect(again.approved).toBe(true);
    expect(await card.balance()).toEqual({ available: 98_000, held: 2_000 });
    await issuer.end(token, 'expired');
    await card.becomes({ status: 'expired', held_minor: 0 });
    expect(await card.balance()).toEqual({ available: 100_000, held: 0 });
  });

  test('a payment that the network approved in our place is held', async () => {
    const card = await jitCard();
    const { token } = await issuer.pay(card.id, { kind: 'advice' });
    await card.becomes({ status: 'approved', stand_in: 'network', held_minor: 5_000 });
    await issuer.end(token, 'cleared');
    await card.becomes({ status: 'cleared', cleared_minor: 5_000 });
    expect(await card.balance()).toEqual({ available: 95_000, held: 0 });
  });

  test('each of several clearings of a payment is captured once', async () => {
    const card = await jitCard();
    const request = authorizationRequest(card.name);
    const token = request.data.reference;
    await issuer.send(request);
    const parts = [2_000, 1_500, 4_000].map((minor) =>
      authorizationEvent(card.name, token, { minor }),
    );
    for (const part of [...parts, ...parts]) {
      expect(await issuer.send(part)).toMatchObject({ status: 200 });
    }
    await card.becomes({ status: 'cleared', cleared_minor: 7_500 });
    expect(await card.balance()).toEqual({ available: 92_500, held: 0 });
    const reversal = authorizationEvent(card.name, token, { name: 'card.authorization_reversed' });
    expect(await issuer.send(reversal)).toMatchObject({ status: 200 });
    await card.becomes({ status: 'reversed', cleared_minor: 0 });
    expect(await card.balance()).toEqual({ available: 100_000, held: 0 });
  });
});

describe('a payment is declined', () => {
  const codeOf = async (id: string, payment: Parameters<IssuerClient['pay']>[1] = {}) => {
    const { approved, code } = await issuer.pay(id, payment);
    return approved ? 'approved' : code;
  };

  test('a payment against any of the security settings is declined, and listed with its reason', async () => {
    const card = await jitCard();
    const { id } = card;
    expect(await card.secure({ channels: { ...OPEN.channels, online: false } })).toMatchObject({
      status: 200,
    });
    expect(await codeOf(id, { channel: 'online' })).toBe('channel_not_allowed');
    expect(await codeOf(id, { channel: 'pos' })).toBe('approved');
    await card.secure({ per_transaction_limit_minor: 4_999 });
    expect(await codeOf(id)).toBe('per_transaction_limit_exceeded');
    await card.secure({ daily_limit_minor: 9_000 });
    expect(await codeOf(id, { amount_minor: 4_000 })).toBe('approved');
    expect(await codeOf(id, { amount_minor: 1 })).toBe('daily_limit_exceeded');
    await card.secure({ allowed_countries: ['GH'] });
    expect(await codeOf(id)).toBe('country_not_allowed');
    await card.secure({ blocked_merchant_categories: ['5812'] });
    expect(await codeOf(id, { merchant: { category: '5812' } })).toBe('merchant_category_blocked');
    expect(await codeOf(id, { merchant: { category: '5411' } })).toBe('approved');
    const { data, pagination } = await card.list('?limit=2&offset=1');
    expect(data.map(({ code }) => code)).toEqual([
      'merchant_category_blocked',
      'country_not_allowed',
    ]);
    expect(pagination).toMatchObject({ total: 8, limit: 2 });
  });

  test('a payment for more than the wallet has is declined without a hold', async () => {
    const card = await jitCard(4_999);
    expect(await codeOf(card.id)).toBe('insufficient_balance');
    expect(await card.balance()).toEqual({ available: 4_999, held: 0 });
  });

  test('a payment with an unknown card or in another currency is declined', async () => {
    const card = await jitCard();
    const requestAuthorization = async (name: string, changes: Record<string, unknown> = {}) =>
      (await issuer.send(authorizationRequest(name, changes))).body;
    expect(await requestAuthorization('card_of_nobody')).toMatchObject({
      approved: false,
      code: 'card_unknown',
    });
    expect(await requestAuthorization(card.name, { currency: 'USD' })).toMatchObject({
      approved: false,
      code: 'currency_not_supported',
    });
  });

  test('an account verification, of the amount zero, is approved and holds nothing', async () => {
    const card = await jitCard(0);
    const { body } = await issuer.send(authorizationRequest(card.name, { amount_minor: 0 }));
    expect(body).toMatchObject({ approved: true, code: 'approved', approved_amount_minor: 0 });
    expect(await card.balance()).toEqual({ available: 0, held: 0 });
  });

  test('a payment is declined after the card’s month, and with a card that is locked in Bursar and not yet at the issuer', async () => {
    const card = await jitCard();
    const all = service.deps.database.db.collection<Card>('cards');
    const expiry = { 'issued.expiry_year': 2025, 'issued.expiry_month': 12 };
    const { issued } = await stored(card.id);
    await all.updateOne({ _id: card.id }, { $set: expiry });
    expect(await codeOf(card.id)).toBe('card_expired');
    await all.updateOne({ _id: card.id }, { $set: { issued, status: 'locked' } });
    expect(await codeOf(card.id)).toBe('card_locked');
  });
});

test('a tenant whose cards are switched off has its payments declined within a second, and approved after it', async () => {
  const card = await jitCard();
  expect((await issuer.pay(card.id)).approved).toBe(true);
  const switchTo = (cards: boolean) =>
    service.deps.tenants.update(card.own.id, { features: { cards } });
  await switchTo(false);
  await sleep(1_000);
  expect(await issuer.pay(card.id)).toMatchObject({ approved: false, code: 'cards_disabled' });
  await switchTo(true);
  await sleep(1_000);
  expect((await issuer.pay(card.id)).approved).toBe(true);
  expect(await card.balance()).toEqual({ available: 90_000, held: 10_000 });
});

test('a card that is created with limits never approves beyond them', async () => {
  const own = await service.tenant({ balanceMinor: 100_000 });
  const security = { ...OPEN, per_transaction_limit_minor: 4_000, allowed_countries: ['NG'] };
  const { id } = await cardClient(own).issue({ funding: 'jit', security });
  expect((await issuer.pay(id)).code).toBe('per_transaction_limit_exceeded');
  const abroad = { amount_minor: 100, merchant: { country: 'GH' } };
  expect((await issuer.pay(id, abroad)).code).toBe('country_not_allowed');
  expect((await issuer.pay(id, { amount_minor: 4_000 })).approved).toBe(true);
  const { body } = await cardClient(own).call('GET', `/cards/${id}/security`);
  expect(body.data).toEqual({ card_id: id, ...security });
});

describe('the same token', () => {
  test('concurrent requests with one token get one decision and one hold', async () => {
    const card = await jitCard();
    const request = authorizationRequest(card.name);
    const answers = await Promise.all(Array.from({ length: 20 }, () => issuer.send(request)));
    for (const { status, body } of answers) {
      expect([status, body]).toMatchObject([200, { approved: true, code: 'approved' }]);
    }
    expect(await card.balance()).toEqual({ available: 95_000, held: 5_000 });
  });

  test('the hold of an approval that the issuer did not receive is released when the issuer reports its decline', async () => {
    const card = await jitCard();
    await service.bank.faults([{ call: 'authorization', kind: 'drop_after', probability: 1 }]);
    const { approved, code, token, message_id } = await issuer.pay(card.id);
    await service.bank.faults([]);
    expect([approved, code]).toEqual([false, 'no_answer']);
    await card.becomes({ status: 'declined', held_minor: 0 });
    expect(await card.balance()).toEqual({ available: 100_000, held: 0 });
    const late = authorizationRequest(card.name, { reference: token, message_id });
    expect((await issuer.send(late)).body).toMatchObject({ approved: false });
  });
});

test('a clearing above the balance raises attention, which an operator finds and clears', async () => {
  const card = await jitCard(6_000);
  const { token } = await issuer.pay(card.id);
  await issuer.end(token, 'cleared', 9_000);
  await card.becomes({ status: 'cleared', cleared_minor: 9_000 });
  const run = async (line: string) => {
    const { code, out, error } = await bursar(`card-authorizations ${line} --json`, service.env);
    return code === 0 ? JSON.parse(out) : { code, error };
  };
  const [waiting] = await run(`list --attention --card ${card.id}`);
  expect(waiting).toMatchObject({ card: card.id, tenant: card.own.id, cleared_minor: 9_000 });
  expect(waiting.attention).toContain('the tenant owes the rest');
  expect(await run(`acknowledge ${waiting.id} --reason asked-the-tenant`)).toEqual({
    id: waiting.id,
    acknowledged: waiting.attention,
  });
  const shown = await run(`show ${waiting.id}`);
  expect(shown).toMatchObject({ attention: null, tenant: card.own.id });
  expect(shown.timeline.at(-1)).toMatchObject({
    type: 'attention_cleared',
    actor: 'operator',
    detail: null,
  });
  expect(await run(`list --attention --card ${card.id}`)).toEqual([]);
  expect(await run(`acknowledge ${waiting.id} --reason again`)).toMatchObject({ code: 1 });
});

test('50 concurrent payments on three cards of one wallet never hold more than its balance', async () => {
  const card = await jitCard(60_000);
  const client = cardClient(card.own);
  const others = await Promise.all([1, 2].map(() => client.issue({ funding: 'jit' })));
  const ids = [card.id, ...others.map(({ id }) => id)];
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => issuer.pay(ids[n % 3] ?? '')),
  );
  const approved = answers.filter((answer) => answer.approved).length;
  await eventually('the declined payments hold nothing', async () =>
    (await card.balance()).held === approved * 5_000 ? true : undefined,
  );
  const { available, held } = await card.balance();
  expect(available).toBe(60_000 - held);
  expect(available).toBeGreaterThanOrEqual(0);
  const open = await Promise.all(ids.map(async (id) => (await stored(id)).open_holds));
  expect(open.reduce((sum, holds) => sum + holds, 0)).toBe(approved);
});

describe('security settings', () => {
  test('the security settings of a new card allow everything, and are read back as they were set', async () => {
    const { id } = await cards.issue();
    expect((await cards.call('GET', `/cards/${id}/security`)).body.data).toEqual({
      card_id: id,
      ...OPEN,
    });
    const strict = {
      channels: { online: false, pos: true, atm: false, contactless: false },
      per_transaction_limit_minor: 10_000,
      daily_limit_minor: 50_000,
      allowed_countries: ['NG'],
      blocked_merchant_categories: ['7995'],
    };
    const put = await cards.call('PUT', `/cards/${id}/security`, strict);
    expect([put.status, put.body.data]).toEqual([200, { card_id: id, ...strict }]);
    expect((await cards.call('GET', `/cards/${id}/security`)).body.data).toEqual({
      card_id: id,
      ...strict,
    });
  });

  test.each([
    [{ channels: { online: true } }, 'channels.pos'],
    [{ channels: { ...OPEN.channels, fax: true } }, 'channels.fax'],
    [{ per_transaction_limit_minor: 0 }, 'per_transaction_limit_minor'],
    [{ per_transaction_limit_minor: '100' }, 'per_transaction_limit_minor'],
    [{ daily_limit_minor: 1.5 }, 'daily_limit_minor'],
    [{ allowed_countries: ['Nigeria'] }, 'allowed_countries.0'],
    [{ allowed_countries: ['NG', 'NG'] }, 'allowed_countries'],
    [{ blocked_merchant_categories: ['12'] }, 'blocked_merchant_categories.0'],
    [{ limit: 1 }, 'limit'],
    [{ daily_limit_minor: undefined }, 'daily_limit_minor'],
  ])('refuse %j by the name of the field', async (wrong, field) => {
    const { id } = await cards.issue();
    const { status, body } = await cards.call('PUT', `/cards/${id}/security`, {
      ...OPEN,
      ...wrong,
    });
    expect([status, body.error.code, body.error.field]).toEqual([400, 'validation_error', field]);
  });
});

describe('the card webhook', () => {
  test('the card webhook answers an unknown issuer like a wrong signature, with 401, and stores nothing', async () => {
    const card = await jitCard();
    const request = authorizationRequest(card.name);
    const event = authorizationEvent(card.name, 'auth_of_nobody');
    for (const body of [request, event]) {
      expect(await issuer.send(body, { provider: 'another-bank' })).toMatchObject({
        status: 401,
        body: { error: { code: 'invalid_signature' } },
      });
      expect(await issuer.send(body, { secret: 'the secret of somebody else' })).toMatchObject({
        status: 401,
        body: { error: { code: 'invalid_signature' } },
      });
    }
    expect((await card.list()).data).toEqual([]);
    const events = service.deps.database.db.collection('provider_events');
    expect(
      await events.countDocuments({ 'facts.issuer_card': card.name, event: 'card.cleared' }),
    ).toBe(0);
  });
});
