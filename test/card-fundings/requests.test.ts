import type { Card } from '../../src/capabilities/cards/record.js';
import { cardClient, type CardClient, type CardView } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

let service: Service;
let tenant: TestTenant;
let cards: CardClient;
let card: CardView;

beforeAll(async () => {
  service = await shareService();
  tenant = await service.tenant();
  cards = cardClient(tenant);
  card = await cards.issue();
});
afterAll(() => service.close());

let names = 0;
const funding = (changes: Record<string, unknown> = {}) => ({
  amount_minor: 5_000,
  transaction_reference: `top-up-${(names += 1)}-789`,
  ...changes,
});
const countOperations = () =>
  service.deps.database.db.collection('card_operations').countDocuments({ tenant_id: tenant.id });
/** Sets fields of a stored card directly. */
const setCard = (id: string, set: Partial<Card>) =>
  service.deps.database.db.collection<Card>('cards').updateOne({ _id: id }, { $set: set });

describe.each(['fund', 'jit-fund'])('POST …/%s', (action) => {
  const PAN = '4111111111111111';
  test.each([
    ['amount_minor', { amount_minor: undefined }],
    ['amount_minor', { amount_minor: 0 }],
    ['amount_minor', { amount_minor: 0 }],
    ['amount_minor', { amount_minor: 500_000_001 }],
    ['amount_minor', { amount_minor: 10.5 }],
    ['amount_minor', { amount_minor: '5000' }],
    ['currency', { currency: 'USD' }],
    ['transaction_reference', { transaction_reference: ' begins with a space' }],
    ['transaction_reference', { transaction_reference: PAN }],
    ['reference', { reference: 'another' }],
    ['note', { note: PAN }],
    ['metadata.deep.card', { metadata: { deep: { card: '4111 1111 1111 1111' } } }],
    ['idempotency_key', { idempotency_key: '' }],
  ])(
    'a request with a wrong %s is refused by that name, and creates nothing',
    async (field, changes) => {
      const before = await countOperations();
      const { status, body } = await cards.act(card.id, action, funding(changes));
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: 'validation_error', field });
      expect(await countOperations()).toBe(before);
    },
  );

  test('unknown fields are kept as metadata, together with the metadata of the request', async () => {
    const changes = { order: { no: 7 }, tags: ['a'], metadata: { team: 'sales' } };
    const { status, body } = await cards.act(card.id, action, funding(changes));
    expect(status).toBe(201);
    expect(body.data.metadata).toEqual({ order: { no: 7 }, tags: ['a'], team: 'sales' });
  });

  test('the older name of the reference counts, also beside the same', async () => {
    const { transaction_reference: name } = funding();
    const first = await cards.act(card.id, action, { amount_minor: 5_000, reference: name });
    expect(first.body.data.transaction_reference).toBe(name);
    const both = { amount_minor: 5_000, reference: name, transaction_reference: name };
    const second = await cards.act(card.id, action, both);
    expect(second.status).toBe(422);
    expect(second.body.error).toMatchObject({
      code: 'duplicate_reference',
      field: 'transaction_reference',
      details: { id: first.body.data.id },
    });
    // Of each card.
    const other = await cards.issue();
    expect((await cards.act(other.id, action, both)).status).toBe(201);
  });

  test('more than the wallet has: refused, and so again for a retry', async () => {
    const poor = await service.tenant({ balanceMinor: 4_999 });
    const own = cardClient(poor);
    const { id } = await own.issue();
    const body = funding();
    const key = `poor ${id}`;
    const refused = await own.act(id, action, body, { key });
    expect([refused.status, refused.body.error.code]).toEqual([422, 'insufficient_balance']);
    expect(refused.body.error.details).toMatchObject({ required: 5_000, available: 4_999 });
    expect((await own.act(id, action, body, { key })).text).toBe(refused.text);
    expect(await poor.balance()).toEqual({ available: 4_999, held: 0 });
  });

  test('another tenant’s card and an unknown card are answered 404', async () => {
    const stranger = cardClient(await service.tenant());
    expect((await stranger.act(card.id, action, funding())).status).toBe(404);
    const absent = card.id.slice(0, -1) + (card.id.endsWith('0') ? '1' : '0');
    expect((await cards.act(absent, action, funding())).status).toBe(404);
  });

  test.each(['pending', 'locked', 'closed', 'expired', 'failed'] as const)(
    'a funding of a card that is %s is refused with invalid_state, and nothing is held',
    async (status) => {
      const { id } = await cards.issue();
      await setCard(id, { status });
      const before = await tenant.balance();
      const reply = await cards.act(id, action, funding());
      expect([reply.status, reply.body.error.code]).toEqual([422, 'invalid_state']);
      expect(reply.body.error.message).toContain(status);
      expect(await tenant.balance()).toEqual(before);
      await setCard(id, { status: 'active' });
    },
  );

  test('the same key is the same operation, also at the same moment; another amount is refused', async () => {
    const { id } = await cards.issue();
    const body = funding();
    const key = `same ${id}`;
    const replies = await Promise.all([1, 2, 3].map(() => cards.act(id, action, body, { key })));
    expect(new Set(replies.map((reply) => reply.body.data.id)).size).toBe(1);
    const other = await cards.act(id, action, { ...body, amount_minor: 6_000 }, { key });
    expect(other.body.error.code).toBe('idempotency_key_reused');
    const funded = replies[0]?.body.data.id;
    await eventually('it is funded', async () => {
      if ((await cards.balance(id)).available_minor === 5_000) return true;
      const found = await service.deps.cards.operations.find(String(funded));
      throw new Error(JSON.stringify(found && [found.status, found.failure, found.attention]));
    });
  });
});

test('a card that is funded just in time takes no other funding', async () => {
  const { id } = await cards.issue({ funding: 'jit' });
  expect((await cards.act(id, 'fund', funding())).body.error.code).toBe('invalid_state');
  const { body } = await inTries(
    3,
    () => cards.act(id, 'jit-fund', funding()),
    ({ body: { data } }) => data.failure?.code !== 'deadline_exceeded',
  );
  expect(body.data.status).toBe('completed');
});

test('a tenant may have a tighter safeguard, for each card', async () => {
  const careful = await service.tenant();
  await service.deps.tenants.update(careful.id, { safeguards: { card_fund: 2 } });
  const own = cardClient(careful);
  const [one, other] = await Promise.all([own.issue(), own.issue()]);
  // A request whose count takes too long passes uncounted.
  const last = await inTries(
    40,
    () => own.act(one.id, 'fund', funding()),
    ({ status }) => status === 429,
  );
  expect(last.status).toBe(429);
  expect(last.headers.get('retry-after')).not.toBeNull();
  expect((await own.act(other.id, 'fund', funding())).status).toBe(201);
});

describe('auto-reload', () => {
  const settings = {
    enabled: true,
    threshold_minor: 1_000,
    amount_minor: 5_000,
    daily_cap_minor: 20_000,
  };
  const put = (id: string, body: Record<string, unknown>) =>
    cards.call<Record<string, unknown>>('PUT', `/cards/${id}/auto-reload`, body);

  test('an empty card is reloaded once, as soon as its settings are set', async () => {
    const { id } = await cards.issue();
    const first = await put(id, settings);
    expect(first.status).toBe(200);
    expect(first.body.data).toMatchObject({ ...settings, used_today_minor: 5_000, refusals: 0 });
    await put(id, settings);
    await eventually('it is reloaded', async () =>
      (await cards.balance(id)).available_minor === 5_000 ? true : undefined,
    );
    const { body } = await cards.call<Record<string, unknown>>('GET', `/cards/${id}/auto-reload`);
    expect(body.data).toMatchObject({ operation_id: null, used_today_minor: 5_000 });
  });

  test('switched off alone, it keeps its settings; other fields are needed all together', async () => {
    const { id } = await cards.issue();
    const never = await put(id, { enabled: false });
    expect(never.body.data).toMatchObject({ enabled: false, threshold_minor: null });
    await put(id, settings);
    const off = await put(id, { enabled: false });
    expect([off.status, off.body.data]).toMatchObject([200, { ...settings, enabled: false }]);
    const partly = await put(id, { enabled: false, threshold_minor: 2_000 });
    expect(partly.body).toMatchObject({ error: { field: 'amount_minor' } });
    const alone = await put(id, { enabled: true });
    expect(alone.body).toMatchObject({ error: { field: 'threshold_minor' } });
  });

  test('a funding of one kobo is accepted', async () => {
    const { status } = await cards.act(card.id, 'fund', { ...funding(), amount_minor: 1 });
    expect(status).toBe(201);
  });

  test.each([
    ['enabled', { enabled: 'yes' }],
    ['threshold_minor', { threshold_minor: 0 }],
    ['amount_minor', { amount_minor: 0 }],
    ['daily_cap_minor', { daily_cap_minor: 4_999 }],
    ['limit', { limit: 1 }],
  ])('names %s where it is wrong', async (field, changes) => {
    const { status, body } = await put(card.id, { ...settings, ...changes });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'validation_error', field });
  });

  test('is not for cards that have no money of their own', async () => {
    const { id } = await cards.issue({ funding: 'jit' });
    expect((await put(id, settings)).body.error.code).toBe('invalid_state');
  });
});

test('after all requests the ledger balances and agrees with the issuer', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
