import { applyIssueFact } from '../../src/cards/issuing/apply.js';
import type { IssueFact } from '../../src/cards/issuing/facts.js';
import { cardClient, newCard, type CardClient } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let cards: CardClient;

beforeAll(async () => {
  service = await startService();
  tenant = await service.tenant();
  cards = cardClient(tenant);
});
afterAll(() => service.close());

const journalOf = async (id: string) => (await service.bank.journal(id)).map(({ kind }) => kind);

const issueOf = async (id: string) => {
  const operation = await service.deps.cardOperations.issueOf({ _id: id, tenant: tenant.id });
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

  test('001: pending until the issuer calls back, however often it is asked', async () => {
    const { body } = await cards.create(newCard('001'));
    const { id } = body.data;
    await eventually('the issuer was asked', async () => {
      const { polls } = await issueOf(id);
      return polls > 1 ? true : undefined;
    });
    const operation = await issueOf(id);
    // What the callback says.
    const fact: IssueFact = {
      kind: 'issued',
      card: `card-${id}`,
      brand: 'verve',
      last4: '0001',
      expiryMonth: 11,
      expiryYear: 2029,
      via: 'webhook',
      actor: null,
      providerRequestId: null,
      note: null,
    };
    for (const verdict of ['applied', 'unchanged']) {
      const outcome = await applyIssueFact(service.deps.groupCommit, operation, fact);
      expect(outcome).toMatchObject({ kind: 'issueFact', verdict });
    }
    service.deps.cardStarters.wakeSoon(operation);
    expect(await cards.get(id)).toMatchObject({ status: 'active', last4: '0001' });
    expect(await journalOf(id)).toEqual(['issued']);
  });

  test('004: issued without an answer, it becomes active and is issued once', async () => {
    const { body } = await cards.create(newCard('004'));
    await cards.waitFor(body.data.id, 'active');
    expect(await journalOf(body.data.id)).toEqual(['issued']);
  });

  test('002: refused, the card has failed and says why', async () => {
    const { body } = await cards.create(newCard('002'));
    const card = await cards.waitFor(body.data.id, 'failed');
    expect(card.failure?.code).toBe('not_eligible');
    expect(await journalOf(card.id)).toEqual([]);
  });

  test('005: no answer and nothing issued: never guessed, an operator is called and gives it up', async () => {
    const { body } = await cards.create(newCard('005'));
    const { id } = body.data;
    const stuck = await eventually('an operator is called', async () => {
      const operation = await issueOf(id);
      return operation.attention ? operation : undefined;
    });
    expect(stuck.status).toBe('processing');
    expect((await cards.get(id)).status).toBe('pending');
    const act = (force: boolean) =>
      service.deps.cardStarters.command(stuck, 'fail', {
        actor: 'ada',
        reason: 'the issuer is asked by phone',
        session_id: null,
        force,
      });
    expect((await act(false)).done).toBe(false);
    expect((await act(true)).done).toBe(true);
    expect(await cards.get(id)).toMatchObject({ status: 'failed', failure: { code: 'operator' } });
  });
});

describe('POST /cards', () => {
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
    ['customer_id', { customer_id: 'two words' }],
    ['customer_id', { customer_id: '4111111111111111' }],
    ['type', { type: 'plastic' }],
    ['funding', { funding: 'credit' }],
    ['currency', { currency: 'USD' }],
    ['name', { name: '4111 1111 1111 1111' }],
    ['metadata.pan', { metadata: { pan: '4111111111111111' } }],
    ['cvv', { cvv: '123' }],
  ])('names %s where it is wrong, and makes nothing', async (field, changes) => {
    const before = (await cards.list()).body.pagination?.total;
    const { status, body } = await cards.create(newCard('789', changes));
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'validation_error', field });
    expect((await cards.list()).body.pagination?.total).toBe(before);
  });
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

  test('a tenant without cards is told so', async () => {
    const without = await service.tenant();
    await service.deps.tenants.update(without.id, { features: { cards: false } });
    // A key's tenant is remembered for less than a second.
    const refused = await eventually('it is refused', async () => {
      const reply = await cardClient(without).list();
      return reply.status === 403 ? reply : undefined;
    });
    expect(refused.body.error.code).toBe('feature_not_enabled');
  });
});
