import { randomInt } from 'node:crypto';
import type { Document } from 'mongodb';
import { erasedRecords } from '../../src/composition/capabilities.js';
import type { Refund } from '../../src/capabilities/refunds/record.js';
import { cardClient, newCard } from '../support/cards.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { identityClient } from '../support/identity.js';
import { activeToken, newCustomer, onPage, paymentClient } from '../support/payments.js';
import { RECURRING_PATH, type RecurringView } from '../support/recurring.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { accountClient } from '../support/virtual-accounts.js';

let service: Service;
let tenant: TestTenant;
let receiver: Receiver;

beforeAll(async () => {
  service = await shareService();
  tenant = await service.tenant({ features: { identity: true } });
  receiver = await startReceiver();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

// The database has the records of other test files too, so nobody else may have these values.
const WORD = Array.from({ length: 8 }, () => String.fromCodePoint(97 + randomInt(26))).join('');
const DIGITS = String(randomInt(10_000, 100_000));
const PERSON = { email: `planted.${WORD}@plant.example`, name: `Planted${WORD} Obi` };
const PHONE = `+23480355${DIGITS}`;
const NOTE = `Note${WORD}`;
const SENDER = `Sender${WORD} Eze`;
const NUMBER = '22123456789';
const ACCOUNT = `09876${DIGITS}`;
const PLANTED = [PERSON.email, PERSON.name, PHONE, NOTE, SENDER, ACCOUNT];
/** An operator's reason, which the audit log keeps. */
const OPERATORS_REASON = `Reason${WORD}`;

/** The places of the planted values in every collection, as the service reads them with its keys. */
async function planted(values = PLANTED): Promise<string[]> {
  const { db } = service.deps.database;
  const found: string[] = [];
  for (const { name } of await db.listCollections().toArray()) {
    const documents: Document[] = await db.collection(name).find().toArray();
    const text = JSON.stringify(documents, (key, value: unknown) =>
      // Ids that are ours, and hashes, may have the digits by chance.
      typeof value === 'bigint'
        ? Number(value)
        : /(?<!request)_id$|hash|digest/.test(key)
          ? ''
          : value,
    );
    found.push(...values.filter((each) => text.includes(each)).map((each) => `${each}: ${name}`));
  }
  return found;
}

const erase = async (customer: string) => {
  const line = `customers erase --tenant ${tenant.id} --customer ${customer} --reason asked-for --json`;
  const { code, out, error } = await bursar(line, service.env);
  return { code, error, ...(code === 0 && { answer: JSON.parse(out) }) };
};

/** The number of the tenant's records that have the id of the request that made them, which the tenant chose. */
async function withRequestIds(): Promise<number> {
  const { db } = service.deps.database;
  const named = { tenant_id: tenant.id, http_request_id: { $exists: true } };
  const counts = erasedRecords.map(({ collection }) =>
    db.collection(collection.name).countDocuments(named),
  );
  return (await Promise.all(counts)).reduce((total, count) => total + count, 0);
}

/** Moves everything of the tenant 26 hours back, as if nothing had happened since. */
async function aDayLater(): Promise<void> {
  const { db } = service.deps.database;
  const before = new Date(Date.now() - 26 * 60 * 60 * 1000);
  for (const { collection } of erasedRecords) {
    const theirs = { tenant_id: tenant.id };
    await db.collection(collection.name).updateMany(theirs, { $set: { updated_at: before } });
  }
  // Their own expiry removes saved responses; its monitor is slower than a test.
  await db
    .collection<{ _id: string }>('idempotency_keys')
    .deleteMany({ _id: { $regex: tenant.id } });
}

test('an erasure waits for open work and saved responses, then no collection has personal data of the customer, and the books stay', async () => {
  const payments = paymentClient(tenant);
  const accounts = accountClient(tenant);
  const cards = cardClient(tenant);
  const identity = identityClient(tenant);
  const customer = newCustomer(PERSON);

  const { payment_token_id } = await payments.token(customer);
  const paid = { customer, payment_token_id, description: NOTE, metadata: { note: NOTE } };
  const { url, reference } = await payments.page('789', paid);
  await onPage(url);
  await payments.verify(reference);
  await payments.waitFor(reference, 'completed');
  await payments.refund({ charge_reference: reference, amount_minor: 1_000, reason: NOTE });
  const account = await accounts.active('789', {
    customer_id: undefined,
    customer: { ...customer, phone: PHONE },
    metadata: { note: NOTE },
  });
  await service.bank.deposit(account.account_number, { amount_minor: 40_000, sender_name: SENDER });
  await accounts.waitFor(account.id, ({ total_received_minor: total }) => total > 0);
  const card = await cards.issue(
    newCard('789', { customer_id: customer.id, name: PERSON.name, metadata: { note: NOTE } }),
  );
  const body = { first_name: 'Ada', last_name: 'Obi', number: NUMBER };
  const check = await identity.verify(customer.id, { body });
  expect(check.status).toBe(201);
  await identity.waitFor(check.body.data, 'verified');
  await service.allEnded();
  // An account that the refund has kept beyond its end, and the reason of a command.
  const theirs = { number: ACCOUNT, bank_code: '058' };
  const kept = { customer_account: theirs, 'timeline.0.internal': OPERATORS_REASON };
  const refunds = service.deps.database.db.collection<Refund>('refunds');
  const [refund] = await refunds.find({ tenant_id: tenant.id }).toArray();
  await refunds.updateOne({ _id: String(refund?._id) }, { $set: kept });
  expect(new Set((await planted()).map((each) => each.split(': ')[0]))).toEqual(new Set(PLANTED));

  const early = await erase(customer.id);
  expect(early.code).toBe(1);
  for (const label of ['payment tokens', 'virtual accounts', 'cards']) {
    expect(early.error).toMatch(new RegExp(`${label} that are not \\w+: \\w+_`));
  }
  expect((await planted()).length).toBeGreaterThan(0);

  expect((await payments.call('DELETE', `/payments/tokens/${payment_token_id}`)).status).toBe(200);
  await accounts.close(account.id);
  await accounts.waitFor(account.id, 'closed');
  const act = (line: string) => bursar(`${line} --reason ${OPERATORS_REASON} --json`, service.env);
  expect((await act(`cards lock ${card.id}`)).code).toBe(0);
  await cards.act(card.id, 'close', { reason: NOTE, request_id: NOTE });
  await cards.waitFor(card.id, 'closed');
  await service.allEnded();
  const waiting = await eventually('nothing is open', async () => {
    const tried = await erase(customer.id);
    return tried.error.includes('End these first') ? undefined : tried;
  });
  expect([waiting.code, waiting.error]).toEqual([1, expect.stringMatching(/again after 20\d\d-/)]);

  for (const name of ['cards', 'refunds']) {
    expect(await planted([OPERATORS_REASON])).toContain(`${OPERATORS_REASON}: ${name}`);
  }
  await aDayLater();
  const ledger = async () => (await tenant.call('GET', '/balance', undefined)).body.data;
  const before = await ledger();
  expect(await withRequestIds()).toBeGreaterThan(0);
  const done = await erase(customer.id);
  expect(done).toMatchObject({
    code: 0,
    answer: { erased: { customers: 1, charges: 1, payment_tokens: 1, cards: 1, deposits: 1 } },
  });
  expect(await planted()).toEqual([]);
  expect(await planted([OPERATORS_REASON])).toEqual([`${OPERATORS_REASON}: audit_log`]);
  expect(await withRequestIds()).toBe(0);
  expect(await service.problems()).toEqual([]);
  expect((await bursar('ledger verify --json', service.env)).code).toBe(0);
  expect(await ledger()).toMatchObject({ ...before, as_of: expect.any(String) });

  // The records are there, and can be read without the person.
  const charge = await payments.get(reference);
  expect(charge).toMatchObject({ status: 'completed', description: null, metadata: {} });
  expect(await identity.customer(customer.id)).toMatchObject({ email: null, name: null });
  expect(await identity.get(customer.id, check.body.data.id)).toMatchObject({ last4: '' });
  expect((await accounts.get(account.id)).status).toBe('closed');
  const record = await service.deps.customers.store.get(tenant.id, customer.id);
  const acts = `audit list --action customers.erase --target ${record?._id} --json`;
  const audit = await bursar(acts, service.env);
  const entries = JSON.parse(audit.out);
  expect(entries).toMatchObject([{ action: 'customers.erase', reason: 'asked-for' }]);
  expect(audit.out).not.toContain(customer.id);
  // A repetition goes on where an erasure was stopped, and changes nothing else.
  expect((await erase(customer.id)).code).toBe(0);
});

test('an answer that was saved without a change of its record is removed, and a repeat shows the erased record', async () => {
  const payments = paymentClient(tenant);
  const customer = newCustomer();
  const noted = { description: NOTE, metadata: { note: NOTE } };
  const { reference } = await payments.paid({ customer, ...noted });
  const { token } = await activeToken(payments, 'good', customer);
  const { payment_token_id } = token;
  const recurring = await payments.call<RecurringView>('POST', RECURRING_PATH, {
    payment_token_id,
    amount_minor: 300_000,
    interval: 'month',
    start_at: new Date(Date.now() + 86_400_000).toISOString(),
    ...noted,
  });
  const cancelled = `${RECURRING_PATH}/${recurring.body.data.id}/cancel`;
  expect((await payments.call('POST', cancelled, {})).status).toBe(200);
  expect((await payments.call('DELETE', `/payments/tokens/${payment_token_id}`)).status).toBe(200);
  await eventually('nothing is open', async () =>
    (await erase(customer.id)).error.includes('End these first') ? undefined : true,
  );
  await aDayLater();

  const paths = [`/payments/charges/${reference}/verify`, cancelled];
  const answers = () =>
    Promise.all(paths.map((path) => payments.call('POST', path, {}, { key: path })));
  for (const { status, text } of await answers()) {
    expect([status, text]).toEqual([200, expect.stringContaining(NOTE)]);
  }
  expect((await erase(customer.id)).error).toBe('');
  expect(await planted([NOTE])).toEqual([]);
  for (const { status, text, headers } of await answers()) {
    expect([status, headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect(text).not.toContain(NOTE);
  }
});

test('a customer that a request names again is there again', async () => {
  const payments = paymentClient(tenant);
  const customer = newCustomer({ ...PERSON, email: 'again@plant.example' });
  await payments.token(customer);
  const { store } = service.deps.customers;
  const found = await store.get(tenant.id, customer.id);
  if (!found) throw new Error('there is no customer');
  const { client } = service.deps.database;
  await client.withSession((session) => store.erase(found, new Date(), session));
  expect((await store.get(tenant.id, customer.id))?.email).toBeNull();
  await payments.token(customer);
  expect(await store.get(tenant.id, customer.id)).toMatchObject({
    email: 'again@plant.example',
    erased_at: null,
  });
});

test('an unknown customer, and that of another tenant, are not found', async () => {
  const { error } = await erase('nobody');
  expect(error).toContain('there is no customer nobody');
});
