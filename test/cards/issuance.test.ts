import { newOperation, type CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { createCardCreation } from '../../src/capabilities/cards/create.js';
import { createCardBody } from '../../src/capabilities/cards/schema.js';
import { cardClient, newCard, type CardClient, type OperationView } from '../support/cards.js';
import { eachAtOnce } from '../support/at-once.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let cards: CardClient;

beforeAll(async () => {
  service = await shareService();
  tenant = await service.tenant();
  cards = cardClient(tenant);
});
afterAll(() => service.close());

const journalOf = async (id: string) => (await service.bank.journal(id)).map(({ kind }) => kind);

const issueOf = async (id: string) => {
  const operation = await service.deps.cards.operations.issueOf({ _id: id, tenant_id: tenant.id });
  if (!operation) throw new Error(`nothing issues ${id}`);
  return operation;
};

describe('issuing by the table of test values', () => {
  test('a card is accepted as pending, with its place, and active once the issuer has issued it', async () => {
    const body = newCard('789', { name: 'Ada Obi', metadata: { team: 'sales' } });
    const { status, headers, body: answer } = await cards.create(body);
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/cards/${answer.data.id}`);
    expect(answer.data).toMatchObject({
      customer_id: body.customer_id,
      type: 'virtual',
      funding: 'prepaid',
      name: 'Ada Obi',
      status: 'pending',
      last4: null,
      currency: 'NGN',
      provider: 'sandbox-bank',
      failure: null,
      metadata: { team: 'sales' },
    });
    const card = await cards.waitFor(answer.data.id, 'active');
    expect(card.brand).not.toBeNull();
    expect(card.last4).toMatch(/^[0-9]{4}$/);
    expect(card.expiry_month).toBeGreaterThan(0);
    expect(card.expiry_year).toBeGreaterThan(2025);
    expect(await journalOf(card.id)).toEqual(['issued']);
  });

  test('Prefer: wait answers the issued card', async () => {
    const card = await cards.issue({ type: 'physical', funding: 'jit' });
    expect(card).toMatchObject({ status: 'active', type: 'physical', funding: 'jit' });
  });

  eachAtOnce([
    ['001', 'told later, by callback alone'],
    ['004', 'issued without an answer'],
  ])('%s: %s, it becomes active and is issued once', async (suffix) => {
    const { body } = await cards.create(newCard(suffix));
    const card = await cards.waitFor(body.data.id, 'active');
    expect(card.last4).toMatch(/^[0-9]{4}$/);
    expect(await journalOf(card.id)).toEqual(['issued']);
  });

  test('002: a card that its issuer refuses has failed and names the reason', async () => {
    const { body } = await cards.create(newCard('002'));
    const card = await cards.waitFor(body.data.id, 'failed');
    expect(card.failure?.code).toBe('not_eligible');
    expect(await journalOf(card.id)).toEqual([]);
  });

  test('005: an issuance without an answer and without effect raises attention, and fails only by an operator’s command', async () => {
    const { body } = await cards.create(newCard('005'));
    const { id } = body.data;
    const stuck = await eventually('an operator is called', async () => {
      const operation = await issueOf(id);
      return operation.attention ? operation : undefined;
    });
    expect(stuck.status).toBe('processing');
    expect((await cards.get(id)).status).toBe('pending');
    const command = async (line: string) => {
      const { code, out } = await bursar(`cards ${line} --json`, service.env);
      return { code, output: JSON.parse(out) as unknown };
    };
    expect((await command('list --attention')).output).toContainEqual(
      expect.objectContaining({ id: stuck._id, card: id, type: 'issue', status: 'processing' }),
    );
    const fail = `fail ${stuck._id} --reason asked-by-phone --yes`;
    expect(await command(fail)).toMatchObject({ code: 1, output: { done: false } });
    expect(await bursarApproved(`cards ${fail} --force`, service.env)).toMatchObject({ code: 0 });
    expect(await cards.get(id)).toMatchObject({ status: 'failed', failure: { code: 'operator' } });
    expect((await command(`show ${stuck._id}`)).output).toMatchObject({
      card_id: id,
      timeline: expect.arrayContaining([
        expect.objectContaining({ type: 'operator', actor: 'operator' }),
      ]) as unknown,
    });
    expect((await command(`show ${id}`)).output).toMatchObject({
      id,
      operations: [{ id: stuck._id, type: 'issue' }],
    });
    expect((await bursar('cards show crd_unknown', service.env)).code).toBe(1);
  });
});

describe('POST /cards', () => {
  test('a type that the issuer does not issue without the address of the holder is refused, and nothing is stored', async () => {
    const { groupCommit, providers, tenants } = service.deps;
    const own = await tenants.get(tenant.id);
    if (!own) throw new Error('the tenant was there');
    const issuer = providers.forCards();
    const create = createCardCreation({
      groupCommit,
      starter: { startSoon: () => undefined },
      issuer: () => ({ name: issuer.name, cards: { ...issuer.cards, types: ['virtual'] } }),
    });
    const body = (type: 'virtual' | 'physical') => createCardBody.parse(newCard('789', { type }));
    const [physical, virtual] = [body('physical'), body('virtual')];
    await expect(create(own, physical, null)).rejects.toMatchObject({
      code: 'validation_error',
      field: 'type',
      message: expect.stringContaining('physical'),
    });
    const stored = service.deps.database.db.collection('cards');
    const ofTenant = { tenant_id: tenant.id, customer_id: physical.customer_id };
    expect(await stored.countDocuments(ofTenant)).toBe(0);
    expect((await create(own, virtual, null)).answer.status).toBe(201);
  });

  test('the same key is the same card, also at the same moment; another body is refused', async () => {
    const body = newCard();
    const key = `card-${body.customer_id}`;
    const replies = await Promise.all([1, 2, 3].map(() => cards.create(body, { key })));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    const other = await cards.create({ ...body, type: 'physical' }, { key });
    expect(other.status).toBe(422);
    expect(other.body.error.code).toBe('idempotency_key_reused');
  });

  test.each([
    ['customer_id', { customer_id: undefined }],
    ['customer_id', { customer_id: ' begins with a space' }],
    ['customer_id', { customer_id: '4111111111111111' }],
    ['type', { type: 'plastic' }],
    ['funding', { funding: 'credit' }],
    ['currency', { currency: 'USD' }],
    ['name', { name: '4111 1111 1111 1111' }],
    ['metadata.pan', { metadata: { pan: '4111111111111111' } }],
    ['cvv', { cvv: '123' }],
  ])(
    'a request with a wrong %s is refused by that name, and creates nothing',
    async (field, changes) => {
      const before = (await cards.list()).body.pagination?.total;
      const { status, body } = await cards.create(newCard('789', changes));
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: 'validation_error', field });
      expect((await cards.list()).body.pagination?.total).toBe(before);
    },
  );
});

describe('reading', () => {
  test('pages by limit and offset are the newest first, without gap or repeat', async () => {
    const own = cardClient(await service.tenant());
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.unshift((await own.create()).body.data.id);
    const pages = await Promise.all([0, 2, 4, 6].map((n) => own.list(`?limit=2&offset=${n}`)));
    expect(pages.flatMap(({ body }) => body.data.map(({ id }) => id))).toEqual(ids);
    expect(pages.map(({ body }) => body.pagination)).toEqual(
      [true, true, false, false].map((more, i) => ({
        page: i + 1,
        limit: 2,
        total: 5,
        pages: 3,
        has_more: more,
      })),
    );
    for (const query of ['?limit=101', '?offset=-1', '?page=1']) {
      expect((await own.list(query)).status).toBe(400);
    }
  });

  test('a new card can spend nothing', async () => {
    const { body } = await cards.create();
    const balance = await cards.balance(body.data.id);
    expect(balance).toMatchObject({
      card_id: body.data.id,
      available_minor: 0,
      currency: 'NGN',
    });
    expect(Number.isNaN(Date.parse(balance.as_of))).toBe(false);
  });

  test('the operation that issues a card is not visible to the tenant', async () => {
    const { id } = await cards.issue();
    const { _id: operation } = await issueOf(id);
    for (const path of ['', '/timeline']) {
      const reply = await cards.call('GET', `/cards/${id}/operations/${operation}${path}`);
      expect(reply.status).toBe(404);
    }
    expect(await cards.call('GET', `/cards/${id}/funding-history`)).toMatchObject({
      status: 200,
      body: { data: [], pagination: { total: 0 } },
    });
  });

  test('an operation is found under its own card alone', async () => {
    const [one, other] = [await cards.issue(), await cards.issue()];
    const operation = newOperation(
      { tenant_id: tenant.id, card_id: one.id, type: 'fund', provider: 'x', amount_minor: 5n },
      new Date(),
      'accepted',
    );
    const stored = service.deps.database.db.collection<CardOperation>('card_operations');
    await stored.insertOne({ ...operation, status: 'failed', next_check_at: null });
    const under = (card: string) => cards.call('GET', `/cards/${card}/operations/${operation._id}`);
    expect(await under(one.id)).toMatchObject({ status: 200, body: { data: { amount_minor: 5 } } });
    expect((await under(other.id)).status).toBe(404);
    const { body } = await cards.call<OperationView[]>('GET', `/cards/${one.id}/funding-history`);
    expect(body.data.map(({ id }) => id)).toEqual([operation._id]);
    expect(body.pagination?.total).toBe(1);
    await stored.deleteOne({ _id: operation._id });
  });

  test('a tenant without the cards feature gets feature_not_enabled', async () => {
    const without = await service.tenant();
    await service.deps.tenants.update(without.id, { features: { cards: false } });
    // A key's tenant is cached for less than a second.
    const refused = await eventually('it is refused', async () => {
      const reply = await cardClient(without).list();
      return reply.status === 403 ? reply : undefined;
    });
    expect(refused.body.error.code).toBe('feature_not_enabled');
  });
});

test('after all issuances the ledger balances and agrees with the issuer', async () => {
  expect(await service.problems()).toEqual([]);
});
