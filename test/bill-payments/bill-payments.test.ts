import { randomUUID } from 'node:crypto';
import {
  billPaymentWorkflowId,
  type BillPayment,
} from '../../src/capabilities/bill-payments/record.js';
import { WITHOUT_TOKEN } from '../../src/capabilities/bill-payments/transitions.js';
import {
  billClient,
  billEffects,
  BILL_MINOR,
  billPaymentBody,
  decideBill,
  TOKEN,
  type BillClient,
} from '../support/bill-payments.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { noteSecret } from '../support/logs.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

const BALANCE_MINOR = 2_000_000;

let service: Service;
let receiver: Receiver;
let tenant: TestTenant;
let bills: BillClient;

beforeAll(async () => {
  const env = {
    BURSAR_ATTENTION_AFTER_MS: '3000',
    BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
    BURSAR_LOG_LEVEL: 'debug',
  };
  service = await startService({ oneProcess: true, env });
  receiver = await startReceiver();
  tenant = await service.tenant();
  bills = billClient(tenant);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const newTenant = async () => {
  const own = await service.tenant({ balanceMinor: BALANCE_MINOR });
  return { own, client: billClient(own) };
};

const read = async (path: string) =>
  JSON.parse((await tenant.call('GET', path, undefined)).text) as {
    data: { id: string; category?: string; status?: string; amount_minor?: number }[];
    pagination: { total: number };
  };
const idsIn = async (path: string) => (await read(path)).data.map(({ id }) => id);

describe('the catalogue of billers', () => {
  test('billers are listed by category, and items with their prices and bounds', async () => {
    expect(await idsIn('/billpay/categories')).toEqual(['airtime', 'data', 'electricity', 'tv']);
    const electric = await read('/billpay/billers?category=electricity');
    expect(electric.data.map(({ category }) => category)).toEqual(['electricity', 'electricity']);
    expect(await idsIn('/billpay/billers?limit=2&page=2')).toHaveLength(2);
    expect((await tenant.client.listBillItems({ biller_id: 'harbour-electric' })).data).toEqual([
      {
        id: 'harbour-prepaid',
        biller_id: 'harbour-electric',
        name: 'Prepaid meter',
        amount_minor: null,
        min_amount_minor: 50_000,
        max_amount_minor: 50_000_000,
        gives_token: true,
      },
      expect.objectContaining({ id: 'harbour-postpaid', gives_token: false }),
    ]);
    const unknown = await tenant.call('GET', '/billpay/billers/nobody/items', undefined);
    expect(unknown.status).toBe(404);
  });

  test('a customer is validated: a name, no such customer, or a biller without an answer', async () => {
    const { reference: _, amount_minor: __, ...customer } = billPaymentBody();
    const validate = (changes: object) =>
      tenant.call('POST', '/billpay/validate', JSON.stringify({ ...customer, ...changes }));
    const found = await validate({});
    expect([found.status, found.body.data]).toEqual([
      200,
      { ...customer, customer_name: expect.stringMatching(/^[A-Z]+ [A-Z]+$/) },
    ]);
    const unknown = await validate({ customer_reference: '4503061003' });
    expect([unknown.status, unknown.body.error]).toMatchObject([
      422,
      { code: 'invalid_account', field: 'customer_reference' },
    ]);
    const silent = await validate({ customer_reference: '4503061011' });
    expect(silent.status).toBe(503);
    expect(silent.headers.get('retry-after')).not.toBeNull();
  });

  test('a tenant without the feature gets feature_not_enabled on every route', async () => {
    const { own } = await newTenant();
    await service.deps.tenants.update(own.id, { features: { billpay: false } });
    for (const path of ['categories', 'billers', 'billers/kite-data/items', 'payments']) {
      const refused = await eventually('the change is applied', async () => {
        const reply = await own.call('GET', `/billpay/${path}`, undefined);
        return reply.status === 403 ? reply : undefined;
      });
      expect(refused.body.error.code).toBe('feature_not_enabled');
    }
    const { status } = await billClient(own).pay(billPaymentBody());
    expect(status).toBe(403);
  });
});

describe('a request to pay a bill', () => {
  test.each([
    ['an unknown biller', { biller_id: 'nobody' }, 404, 'not_found', 'biller_id'],
    ['an item of another biller', { item_id: 'kite-1gb-30d' }, 404, 'not_found', 'item_id'],
    ['less than the item costs', { amount_minor: 49_999 }, 400, 'validation_error', 'amount_minor'],
    [
      'more than the item takes',
      { amount_minor: 50_000_001 },
      400,
      'validation_error',
      'amount_minor',
    ],
    [
      'another amount than the price',
      { biller_id: 'crescent-tv', item_id: 'crescent-basic', amount_minor: 440_001 },
      400,
      'validation_error',
      'amount_minor',
    ],
    ['another currency', { currency: 'USD' }, 400, 'validation_error', 'currency'],
    ['an unknown field', { narration: 'rent' }, 400, 'validation_error', 'narration'],
    [
      'a reference with a space',
      { customer_reference: '45 789' },
      400,
      'validation_error',
      'customer_reference',
    ],
  ])('with %s is refused, and names the field', async (_what, changes, status, code, field) => {
    const { own, client } = await newTenant();
    const body = billPaymentBody('789', changes);
    const refused = await client.pay(body, { key: 'one key' });
    expect([refused.status, refused.body.error]).toMatchObject([status, { code, field }]);
    expect(await own.balance()).toEqual({ available: BALANCE_MINOR, held: 0 });
  });

  test('a repeat under its key gets the same bytes, another request under it is refused, and a reference is used once', async () => {
    const { own, client } = await newTenant();
    const body = billPaymentBody();
    const first = await client.pay(body, { key: 'one key' });
    const again = await client.pay(body, { key: 'one key' });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const other = await client.pay({ ...body, amount_minor: BILL_MINOR + 1 }, { key: 'one key' });
    expect(other.body.error.code).toBe('idempotency_key_reused');
    const taken = await client.pay(body, { key: 'another key' });
    expect(taken.body.error).toMatchObject({
      code: 'duplicate_reference',
      field: 'reference',
      details: { id: first.body.data.id },
    });
    await client.waitFor(first.body.data.id, 'completed');
    expect(await billEffects(service, first.body.data.id)).toHaveLength(1);
    expect((await own.balance()).available).toBe(BALANCE_MINOR - BILL_MINOR);
  });

  test('many equal requests at once are paid once', async () => {
    const { client } = await newTenant();
    const body = billPaymentBody();
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => client.pay(body, { key: 'one key' })),
    );
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    const id = String(replies[0]?.body.data.id);
    await client.waitFor(id, 'completed');
    expect(await billEffects(service, id)).toHaveLength(1);
  });

  test('the total must be in the wallet, with the fee of the tenant, which a capture books', async () => {
    const own = await service.tenant({ balanceMinor: BILL_MINOR });
    const client = billClient(own);
    const { code } = await bursar(
      `tenants update ${own.id} --bill-fee-minor 1500 --json`,
      service.env,
    );
    expect(code).toBe(0);
    const refused = await eventually('the fee is applied', async () => {
      const reply = await client.pay(billPaymentBody('789', { amount_minor: BILL_MINOR }));
      return reply.status === 422 ? reply : undefined;
    });
    expect(refused.body.error).toMatchObject({
      code: 'insufficient_balance',
      details: { required: BILL_MINOR + 1_500, available: BILL_MINOR },
    });
    const id = await client.send('789', { amount_minor: BILL_MINOR - 1_500 });
    const paid = await client.waitFor(id, 'completed');
    expect(paid).toMatchObject({ fee_minor: 1_500, total_minor: BILL_MINOR });
    expect(await own.balance()).toEqual({ available: 0, held: 0 });
  });

  test('transfers and bills count towards one daily limit, and a failed bill returns its part', async () => {
    const own = await service.tenant({ dailyLimitMinor: 1_000_000n });
    const client = billClient(own);
    await own.send('789', { amount_minor: 400_000 });
    const failed = await client.send('002');
    await client.waitFor(failed, 'failed');
    await client.send('789');
    const body = billPaymentBody('789', { amount_minor: 100_001 });
    const { status, body: refusal } = await client.pay(body);
    expect([status, refusal.error]).toMatchObject([
      422,
      { code: 'limit_exceeded', details: { limit: 1_000_000, used: 900_000 } },
    ]);
    const transfer = await own.transfer({
      amount_minor: 100_001,
      recipient_account: '0123456789',
      recipient_bank_code: '058',
      narration: 'rent',
    });
    expect(transfer.body.error.code).toBe('limit_exceeded');
    expect((await client.pay({ ...body, amount_minor: 100_000 })).status).toBe(201);
  });
});

describe('lists', () => {
  test('filters and both sort orders select the tenant’s own payments', async () => {
    const { own, client } = await newTenant();
    const small = await client.send('789', { amount_minor: 60_000 });
    const airtime = await client.send('002', {
      biller_id: 'kite-mobile',
      item_id: 'kite-airtime',
      amount_minor: 70_000,
    });
    const large = await client.send('789', { amount_minor: 80_000, reference: 'the-large-one' });
    await Promise.all([client.waitFor(small, 'completed'), client.waitFor(airtime, 'failed')]);
    await client.waitFor(large, 'completed');
    const list = async (query: string) => {
      const { text } = await own.call('GET', `/billpay/payments${query}`, undefined);
      const { data, pagination } = JSON.parse(text) as Awaited<ReturnType<typeof read>>;
      expect(pagination.total).toBeGreaterThanOrEqual(data.length);
      return data.map(({ id }) => id);
    };
    const today = new Date().toISOString().slice(0, 10);
    expect(await list('')).toEqual([large, airtime, small]);
    expect(await list('?sort=created_at&limit=2')).toEqual([small, airtime]);
    expect(await list('?sort=-amount_minor')).toEqual([large, airtime, small]);
    expect(await list('?sort=amount_minor&status=successful')).toEqual([small, large]);
    expect(await list('?status=failed')).toEqual([airtime]);
    expect(await list('?biller_id=kite-mobile')).toEqual([airtime]);
    expect(await list('?biller_id=harbour-electric&sort=amount_minor')).toEqual([small, large]);
    expect(await list('?reference=the-large-one')).toEqual([large]);
    expect(await list(`?start_date=${today}&page=2&limit=2`)).toEqual([small]);
    expect(await list('?end_date=2020-01-01')).toEqual([]);
  });
});

describe('the token of a prepaid meter', () => {
  test('it is shown by its id and by Prefer: wait alone, and is sealed in the database', async () => {
    await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
    const key = randomUUID();
    const headers = { prefer: 'wait=20' };
    const made = await bills.pay(billPaymentBody(), { key, headers });
    const { id, receipt } = made.body.data;
    expect(made.body.data.status).toBe('completed');
    expect(receipt).toEqual({ token: expect.stringMatching(TOKEN), units: '73.0 kWh' });
    const token = String(receipt?.token);
    noteSecret(token);
    expect((await bills.get(id)).receipt).toEqual(receipt);

    const list = await tenant.call('GET', '/billpay/payments', undefined);
    expect(list.text).toContain(id);
    expect(list.text).not.toContain(token);
    const events = await eventually('both events arrive', () => {
      const found = receiver.events().filter(({ data }) => data['id'] === id);
      // They may arrive in any order.
      return found.length === 2 ? found.toSorted((a, b) => a.sequence - b.sequence) : undefined;
    });
    expect(events.map(({ event }) => event)).toEqual([
      'bill_payment.processing',
      'bill_payment.completed',
    ]);
    expect(events[1]?.data).toMatchObject({ receipt: { token: null, units: '73.0 kWh' } });

    const { client, db: opened } = service.deps.database;
    // The service's own view of the database opens what is sealed.
    const db = client.db(opened.databaseName);
    for (const { name } of await db.listCollections().toArray()) {
      const documents = JSON.stringify(await db.collection(name).find().toArray(), (_, value) =>
        typeof value === 'bigint' ? String(value) : (value as unknown),
      );
      expect([name, documents.includes(token)]).toEqual([name, false]);
    }
  });

  test('no workflow history and no log has a token, a customer’s reference or a name', async () => {
    const ends = ['001', '004', '009', '789'];
    const ids = await Promise.all(ends.map((end) => bills.send(end)));
    const secrets = ends.map((end) => billPaymentBody(end).customer_reference);
    for (const id of ids) {
      const { receipt, customer_name: name } = await bills.waitFor(id, 'completed');
      secrets.push(String(receipt?.token), String(name));
    }
    for (const secret of secrets) noteSecret(secret);
    const { workflow } = service.deps.temporal.client;
    const texts = await Promise.all(
      ids.map(async (id) =>
        textOf(await workflow.getHandle(billPaymentWorkflowId(id)).fetchHistory()),
      ),
    );
    texts.forEach((text, i) => expect(text).toContain(String(ids[i])));
    texts.push(service.logs(), service.bank.output());
    expect(texts.flatMap((text) => secrets.filter((secret) => text.includes(secret)))).toEqual([]);
  });
});

/** All texts of a history, with its payloads decoded. */
function textOf(value: unknown): string {
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(textOf).join('\n');
}

describe('operators', () => {
  const command = async (id: string, kind: string, ...flags: string[]) => {
    const line = ['bill-payments', kind, id, '--reason asked --json', ...flags];
    const { code, out } = await bursar(line.join(' '), service.env);
    return { code, ...(JSON.parse(out) as { done: boolean; status: string }) };
  };

  /** Payments that the biller has and does not decide, of a tenant each. They call an operator at the same time. */
  const undecided: Promise<{ own: TestTenant; client: BillClient; id: string }>[] = [];
  beforeAll(() => {
    for (let made = 0; made < 4; made += 1)
      undecided.push(newTenant().then(async (of) => ({ ...of, id: await of.client.send('006') })));
  });

  async function stuck() {
    const one = await (undecided.pop() as (typeof undecided)[number]);
    await one.client.waitFor(one.id, ({ attention }) => attention !== null);
    return one;
  }

  test('complete and fail are refused while the biller is undecided', async () => {
    const { id } = await stuck();
    for (const kind of ['complete', 'fail']) {
      expect(await command(id, kind)).toMatchObject({ code: 1, done: false, status: 'processing' });
    }
    expect((await bursar('bill-payments list --attention --json', service.env)).out).toContain(id);
  });

  test('complete ends a payment that the biller confirms, with its token', async () => {
    const { client, id } = await stuck();
    // Without the callback, only the command makes the service verify.
    await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
    await decideBill(service, id, 'paid');
    expect(await command(id, 'complete')).toMatchObject({ code: 0, status: 'completed' });
    await service.bank.faults([]);
    expect(await client.get(id)).toMatchObject({
      attention: null,
      receipt: { token: expect.stringMatching(TOKEN) },
    });
    const shown = await bursar(`bill-payments show ${id} --json`, service.env);
    expect(JSON.parse(shown.out)).toMatchObject({ has_token: true, receipt: { token: null } });
  });

  test('verify adds the token of a payment whose receipt had the units alone, and its attention ends', async () => {
    const { client } = await newTenant();
    const id = await client.send('789');
    await client.waitFor(id, 'completed');
    const now = new Date();
    const attention = { since: now, reason: WITHOUT_TOKEN };
    const lacking = { 'receipt.sealed_token': null, attention, next_check_at: now };
    await service.deps.database.db
      .collection<BillPayment>('bill_payments')
      .updateOne({ _id: id }, { $set: lacking });
    expect((await client.get(id)).receipt).toEqual({ token: null, units: '73.0 kWh' });
    expect(await command(id, 'verify')).toMatchObject({ code: 0, status: 'completed' });
    expect(await client.waitFor(id, (found) => found.attention === null)).toMatchObject({
      receipt: { token: expect.stringMatching(TOKEN), units: '73.0 kWh' },
    });
  });

  test('fail by force releases the hold; a payment that shows up later goes to suspense, and complete debits the wallet', async () => {
    const { own, client, id } = await stuck();
    const forced = `bill-payments fail ${id} --reason asked --force`;
    expect(await bursarApproved(forced, service.env)).toMatchObject({ code: 0 });
    expect(await client.get(id)).toMatchObject({ status: 'failed' });
    expect(await own.balance()).toEqual({ available: BALANCE_MINOR, held: 0 });
    await decideBill(service, id, 'paid');
    const late = await client.waitFor(id, ({ attention }) => attention !== null);
    expect(late).toMatchObject({ status: 'failed', receipt: null });
    expect(await command(id, 'complete')).toMatchObject({ code: 0, status: 'completed' });
    expect(await client.get(id)).toMatchObject({
      attention: null,
      receipt: { token: expect.stringMatching(TOKEN) },
    });
    expect(await own.balance()).toEqual({ available: BALANCE_MINOR - BILL_MINOR, held: 0 });
    expect(await billEffects(service, id)).toHaveLength(1);
  });

  test('a payment of less than was ordered has attention, and complete with that amount ends it and returns the rest', async () => {
    const { own, client, id } = await stuck();
    const less = BILL_MINOR - 1_000;
    await decideBill(service, id, 'paid', less);
    await eventually('the report is on the record', async () => {
      const { attention } = await client.get(id);
      return attention?.reason.includes('another amount') === true ? true : undefined;
    });
    expect(await command(id, 'complete', '--amount-minor', String(less))).toMatchObject({
      code: 0,
    });
    expect(await client.get(id)).toMatchObject({
      status: 'completed',
      settled_amount_minor: less,
      receipt: { token: expect.stringMatching(TOKEN) },
    });
    expect(await own.balance()).toEqual({ available: BALANCE_MINOR - less, held: 0 });
  });
});

test('afterwards the ledger balances and agrees with the journal', async () => {
  await eventually('no payment is open that can end', async () => {
    const open = await service.deps.database.db
      .collection('bill_payments')
      .countDocuments({ status: { $in: ['pending', 'processing'] }, attention: null });
    return open === 0 ? true : undefined;
  });
  expect(await service.problems()).toEqual([]);
});
