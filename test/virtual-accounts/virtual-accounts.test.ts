import { allAtOnce, eachAtOnce } from '../support/at-once.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { SHARED_OPTIONS, shareService, type Service } from '../support/service.js';
import { apiClient, type TestTenant } from '../support/tenant.js';
import {
  accountClient,
  accountCustomer,
  type AccountClient,
  type AccountView,
} from '../support/virtual-accounts.js';

let service: Service;
let tenant: TestTenant;
let accounts: AccountClient;
let receiver: Receiver;

beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.earlyAttention);
  tenant = await service.tenant();
  accounts = accountClient(tenant);
  receiver = await startReceiver();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** The events of an account in their sequence: they may arrive in any order. */
const eventsOf = (id: string) =>
  receiver
    .events()
    .filter(({ data }) => data['id'] === id)
    .toSorted((a, b) => a.sequence - b.sequence)
    .map(({ event }) => event);

const isAtBank = (id: string) =>
  eventually(
    `the bank has ${id}`,
    async () => (await service.deps.virtualAccounts.store.find(id))?.acknowledged_at ?? undefined,
  );

describe('the assignment of a virtual account', () => {
  test('an account is pending, then active with a number, and its event is sent', async () => {
    const reply = await accounts.create({
      customer: { id: accountCustomer(), name: 'Ada Obi', phone: '+2348012345678' },
      bank_code: '058',
      metadata: { shop: '42' },
    });
    expect(reply.status).toBe(201);
    const { data } = reply.body;
    expect(reply.headers.get('location')).toBe(`/api/v1/virtual-accounts/${data.id}`);
    expect(data).toMatchObject({ status: 'pending', account_number: null, reference: data.id });
    expect(await accounts.waitFor(data.id, 'active')).toMatchObject({
      account_number: expect.stringMatching(/^[0-9]{10}$/) as string,
      account_name: 'Ada Obi',
      bank_name: 'Guaranty Trust Bank',
      bank_code: '058',
      total_received_minor: 0,
      metadata: { shop: '42' },
      failure: null,
    });
    await eventually('the event arrives', () =>
      eventsOf(data.id).length > 0 ? eventsOf(data.id) : undefined,
    );
    expect(eventsOf(data.id)).toEqual(['virtual_account.created']);
  });

  test('the customer of an account has a record from its acceptance on, and none of a refused request', async () => {
    const customer = { id: accountCustomer(), name: 'Ada Obi', email: 'ada@example.com' };
    const path = `/identity/customers/${customer.id}`;
    expect((await accounts.create({ customer, account_name: '' })).status).toBe(400);
    expect((await accounts.call('GET', path)).status).toBe(404);
    expect((await accounts.create({ customer })).status).toBe(201);
    expect((await accounts.call('GET', path)).body.data).toMatchObject({
      customer_id: customer.id,
      name: 'Ada Obi',
      email: 'ada@example.com',
    });
    // A later request that names nothing of the customer changes nothing.
    await accounts.accepted(undefined, { customer_id: customer.id });
    expect((await accounts.call('GET', path)).body.data).toMatchObject({ name: 'Ada Obi' });
  });

  test('Prefer: wait answers with the active account, and a retry of it with the same bytes', async () => {
    const body = { customer_id: accountCustomer() };
    const options = { key: accountCustomer(), headers: { prefer: 'wait=20' } };
    const first = await accounts.create(body, options);
    expect(first.body.data.status).toBe('active');
    const again = await accounts.create(body, options);
    expect(again.body.data.id).toBe(first.body.data.id);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  eachAtOnce([
    ['001', 'the provider tells it later'],
    ['004', 'the answer never comes'],
    ['007', 'the provider fails three times first'],
    ['010', 'the provider is throttled first'],
  ])('customer …%s: one account is opened although %s', async (suffix) => {
    const { id } = await accounts.active(suffix);
    const journal = await service.bank.journal(id);
    expect(journal.map(({ kind }) => kind)).toEqual(['opened']);
  });

  allAtOnce((test) => {
    test('a refused account fails with a reason, and does not count as open', async () => {
      const customer_id = accountCustomer('002');
      const { id } = await accounts.accepted('002', { customer_id });
      expect(await accounts.waitFor(id, 'failed')).toMatchObject({
        account_number: null,
        failure: { code: 'not_eligible' },
      });
      const unknown = await accounts.accepted(undefined, { bank_code: '999' });
      expect(await accounts.waitFor(unknown.id, 'failed')).toMatchObject({
        failure: { code: 'no_such_bank' },
      });
      const customers = service.deps.database.db.collection<{ _id: string; open: number }>(
        'virtual_account_customers',
      );
      expect(await customers.findOne({ _id: `${tenant.id}/${customer_id}` })).toMatchObject({
        open: 0,
      });
    });

    test('an undecided account calls an operator, and is never failed by itself', async () => {
      const { id } = await accounts.accepted('006');
      await isAtBank(id);
      const stuck = await accounts.waitFor(id, ({ attention }) => attention !== null);
      expect(stuck.status).toBe('pending');
      const refused = await bursar(
        `virtual-accounts fail ${id} --reason silent --json`,
        service.env,
      );
      expect([refused.code, JSON.parse(refused.out)]).toMatchObject([1, { done: false }]);
      expect(await service.bank.setAccountOutcome(id, 'opened')).toBe(200);
      expect(await accounts.waitFor(id, 'active')).toMatchObject({ attention: null });
    });

    test('an account that is assigned after an operator has failed it waits for the operator', async () => {
      const { id } = await accounts.accepted('006');
      await isAtBank(id);
      const forced = `virtual-accounts fail ${id} --reason gone --force`;
      expect((await bursarApproved(forced, service.env)).code).toBe(0);
      expect(await accounts.get(id)).toMatchObject({ status: 'failed' });
      expect(await service.bank.setAccountOutcome(id, 'opened')).toBe(200);
      const late = await accounts.waitFor(id, ({ attention }) => attention !== null);
      expect(late).toMatchObject({ status: 'failed' });
      const done = await bursar(`virtual-accounts complete ${id} --reason exists`, service.env);
      expect(done.code).toBe(0);
      expect(await accounts.waitFor(id, 'active')).toMatchObject({
        attention: null,
        failure: null,
      });
    });

    test('a customer has at most ten open accounts, also if they are created at once', async () => {
      const customer_id = accountCustomer();
      const replies = await Promise.all(
        Array.from({ length: 14 }, () => accounts.create({ customer_id })),
      );
      const refused = replies.filter(({ status }) => status !== 201);
      expect(refused).toHaveLength(4);
      expect(refused[0]?.body.error).toMatchObject({
        code: 'limit_exceeded',
        details: { limit: 10, used: 10 },
      });
      const { id } = (
        replies.find(({ status }) => status === 201) as { body: { data: AccountView } }
      ).body.data;
      await accounts.waitFor(id, 'active');
      await accounts.close(id);
      await accounts.waitFor(id, 'closed');
      expect((await accounts.create({ customer_id })).status).toBe(201);
    });
  });

  test('a reference is unique for ever, and a refusal takes none', async () => {
    const reference = accountCustomer();
    const first = await accounts.accepted(undefined, { reference });
    const { status, body } = await accounts.create({ customer_id: 'other', reference });
    expect(status).toBe(422);
    expect(body.error).toMatchObject({ code: 'duplicate_reference', details: { id: first.id } });
  });

  test.each([
    ['customer_id', {}],
    ['customer_id', { customer_id: 'a', customer: { id: 'a' } }],
    ['customer.id', { customer: { name: 'Ada' } }],
    ['customer.phone', { customer: { id: 'a', phone: 'none' } }],
    ['currency', { customer_id: 'a', currency: 'USD' }],
    ['expected_amount_minor', { customer_id: 'a', expected_amount_minor: 0 }],
    ['expected_amount_minor', { customer_id: 'a', expected_amount_minor: -1 }],
    ['expected_amount_minor', { customer_id: 'a', expected_amount_minor: 1e300 }],
    ['on_mismatch', { customer_id: 'a', on_mismatch: 'keep' }],
    ['on_mismatch', { customer_id: 'a', on_mismatch: 'return' }],
    ['bank_code', { customer_id: 'a', bank_code: 'GTB' }],
    ['colour', { customer_id: 'a', colour: 'red' }],
  ])('a bad %s is a 400 that names the field', async (field, body) => {
    const reply = await accounts.create(body);
    expect([reply.status, reply.body.error.code, reply.body.error.field]).toEqual([
      400,
      'validation_error',
      field,
    ]);
  });
});

describe('the closing of a virtual account', () => {
  allAtOnce((test) => {
    test('an account is closing, then closed, and a repeat succeeds and changes nothing', async () => {
      const { id } = await accounts.active();
      const reply = await accounts.close(id);
      expect(reply.status).toBe(201);
      expect(reply.body.data.status).toBe('closing');
      expect(reply.headers.get('location')).toBe(`/api/v1/virtual-accounts/${id}`);
      const closed = await accounts.waitFor(id, 'closed');
      expect(closed.closed_at).not.toBeNull();
      expect((await accounts.close(id)).body.data).toEqual(closed);
      expect((await service.bank.journal(id)).map(({ kind }) => kind)).toEqual([
        'opened',
        'closed',
      ]);
      await eventually('both events arrive', () => (eventsOf(id).length === 2 ? true : undefined));
      expect(eventsOf(id)).toEqual(['virtual_account.created', 'virtual_account.closed']);
    });

    test('a closing without an answer is verified, and closes once', async () => {
      const { id } = await accounts.active('016');
      await accounts.close(id);
      await accounts.waitFor(id, 'closed');
      expect((await service.bank.journal(id)).map(({ kind }) => kind)).toEqual([
        'opened',
        'closed',
      ]);
    });

    test('an account that the provider closes by itself is closed here', async () => {
      const { id } = await accounts.active();
      await service.bank.setAccountOutcome(id, 'closed');
      expect((await accounts.waitFor(id, 'closed')).attention).toBeNull();
    });

    test('a pending and a failed account cannot be closed', async () => {
      const pending = await accounts.accepted('006');
      const reply = await accounts.close(pending.id);
      expect([reply.status, reply.body.error.code]).toEqual([422, 'invalid_state']);
      await eventually('the bank knows it', async () =>
        (await service.bank.setAccountOutcome(pending.id, 'failed')) === 200 ? true : undefined,
      );
      await accounts.waitFor(pending.id, 'failed');
      expect((await accounts.close(pending.id)).status).toBe(422);
      expect((await accounts.close('va_01kaj2v6wte8v9kcz0t3yd4m5n')).status).toBe(404);
    });

    test('a repeated key gets the same bytes, also after the account was closed', async () => {
      const { id } = await accounts.active();
      const options = { key: accountCustomer() };
      const first = await accounts.close(id, options);
      await accounts.waitFor(id, 'closed');
      expect((await accounts.close(id, options)).text).toBe(first.text);
    });
  });
});

/** The ids of accounts in the order of their numbers. One that has no number is the first. */
async function byNumber(own: AccountClient, made: AccountView[]): Promise<string[]> {
  const found = await Promise.all(made.map(async ({ id }) => own.get(id)));
  const key = ({ account_number: number }: AccountView) => number ?? '';
  return found.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)).map(({ id }) => id);
}

describe('the list of virtual accounts', () => {
  test('six sorts, filters and pages have the right accounts and totals', async () => {
    const own = accountClient(await service.tenant());
    const made: AccountView[] = [];
    for (const suffix of ['789', '789', '006']) made.push(await own.accepted(suffix));
    // The first account has received more than the second one, and the third one, which has no number, nothing.
    for (const [at, amount_minor] of [500_000, 200_000].entries()) {
      const { id, account_number: number } = await own.waitFor(String(made[at]?.id), 'active');
      await service.bank.deposit(String(number), { amount_minor });
      await own.waitFor(id, ({ total_received_minor: total }) => total === amount_minor);
    }
    await own.close(String(made[0]?.id));
    await own.waitFor(String(made[0]?.id), 'closed');
    const sorted = {
      created_at: made.map(({ id }) => id),
      account_number: await byNumber(own, made),
      total_received_minor: [made[2], made[1], made[0]].map((each) => each?.id),
    };
    for (const [field, wanted] of Object.entries(sorted)) {
      const up = await own.list(`?sort=${field}`);
      const down = await own.list(`?sort=-${field}`);
      const ids = up.body.data.map(({ id }) => id);
      expect(ids).toEqual(wanted);
      expect(down.body.data.map(({ id }) => id)).toEqual(ids.toReversed());
      const paged: string[] = [];
      for (const page of [1, 2, 3]) {
        const reply = await own.list(`?sort=${field}&limit=1&page=${page}`);
        expect(reply.body.pagination).toMatchObject({ page, limit: 1, total: 3, pages: 3 });
        paged.push(...reply.body.data.map(({ id }) => id));
      }
      expect(paged).toEqual(ids);
    }
    const filtered = async (query: string) => {
      const { body } = await own.list(`?sort=created_at&${query}`);
      expect(body.pagination?.total).toBe(body.data.length);
      return body.data.map(({ id }) => made.findIndex((each) => each.id === id));
    };
    const today = new Date().toISOString().slice(0, 10);
    expect(await filtered('status=active')).toEqual([1]);
    expect(await filtered('status=closed')).toEqual([0]);
    expect(await filtered('status=pending')).toEqual([2]);
    expect(await filtered('status=failed')).toEqual([]);
    expect(await filtered(`customer_id=${made[1]?.customer_id}`)).toEqual([1]);
    const { account_number: number } = await own.get(String(made[1]?.id));
    expect(await filtered(`account_number=${number}`)).toEqual([1]);
    expect(await filtered('end_date=2020-01-01')).toEqual([]);
    expect(await filtered(`start_date=2020-01-01&end_date=${today}`)).toEqual([0, 1, 2]);
    expect((await own.list('?offset=1&limit=1')).body.pagination).toMatchObject({
      page: 2,
      total: 3,
    });
  });

  test.each([
    ['offset', '?page=1&offset=0'],
    ['limit', '?limit=101'],
    ['page', '?page=0'],
    ['sort', '?sort=amount'],
    ['status', '?status=open'],
    ['end_date', '?start_date=2026-01-02&end_date=2026-01-01'],
  ])('a bad %s is a 400 that names it', async (field, query) => {
    const { status, body } = await accounts.list(query);
    expect([status, body.error.field]).toEqual([400, field]);
  });
});

describe('the rights on virtual accounts', () => {
  test('a read key lists and does not create, a public key does neither', async () => {
    const { apiKeys } = service.deps;
    const read = await apiKeys.create({ tenantId: tenant.id, level: 'read', kind: 'secret' });
    const open = await apiKeys.create({ tenantId: tenant.id, level: 'write', kind: 'public' });
    const reader = accountClient(apiClient(service.api.url, read.key));
    const browser = accountClient(apiClient(service.api.url, open.key));
    expect((await reader.list()).status).toBe(200);
    expect((await reader.create({ customer_id: 'a' })).status).toBe(403);
    expect((await browser.list()).status).toBe(403);
    expect((await browser.create({ customer_id: 'a' })).status).toBe(403);
  });

  test('a tenant without the feature gets feature_not_enabled', async () => {
    const other = await service.tenant();
    await service.deps.tenants.update(other.id, { features: { virtual_accounts: false } });
    const client = accountClient(other);
    const { body } = await eventually('the feature is off', async () => {
      const reply = await client.list();
      return reply.status === 403 ? reply : undefined;
    });
    expect(body.error.code).toBe('feature_not_enabled');
    expect((await client.create({ customer_id: 'a' })).status).toBe(403);
  });
});

test('the ledger and the bank agree with all of this', async () => {
  expect(await service.problems()).toEqual([]);
});
