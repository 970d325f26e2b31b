import { randomUUID } from 'node:crypto';
import type { PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import { examineBacklog } from '../../src/ops/doctor/backlog.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startListening, type Listening } from '../support/listening.js';
import {
  activeToken,
  chargeBody,
  newCustomer,
  onPage,
  paymentClient,
  type PaymentClient,
  type TokenView,
} from '../support/payments.js';
import type { Receiver } from '../support/receiver.js';
import { paymentToken, RECURRING_PATH, type RecurringView } from '../support/recurring.js';
import type { Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let all: Listening;
let service: Service;
let at: Receiver;
let tenant: TestTenant;
let payments: PaymentClient;

beforeAll(async () => {
  all = await startListening({
    BURSAR_ATTENTION_AFTER_MS: '1500',
    SANDBOX_BANK_TIMEOUT_MS: '1500',
    // The second attempt leaves ten seconds after the decline.
    BURSAR_DUNNING_DAYS: '0.000116',
  });
  service = all.service;
  at = await all.receiver();
  ({ tenant } = await all.tenant(at));
  payments = paymentClient(tenant);
});
afterAll(() => all?.close());
afterEach(() => service?.bank.faults([]));

const SILENT = { call: 'revoke', kind: 'drop_before', probability: 1 } as const;

const remove = (id: string, key?: string) =>
  payments.call<TokenView>('DELETE', `/payments/tokens/${id}`, undefined, key ? { key } : {});
const tokens = () => service.deps.database.db.collection<PaymentToken>('payment_tokens');
const stored = async (id: string) => (await tokens().findOne({ _id: id })) as PaymentToken;

/** Number of the bank's revocations. */
const revocations = async () =>
  (await service.bank.journal()).filter(({ kind }) => kind === 'authorization_revoked').length;

/** Resolves when no revocation of an earlier test is under way. */
const allRevoked = () =>
  eventually('no revocation is under way', async () =>
    (await tokens().findOne({ revoking: { $ne: null } })) ? undefined : true,
  );

const isRevoked = (id: string) =>
  eventually(`the provider has revoked ${id}`, async () =>
    (await stored(id)).revoking === null ? true : undefined,
  );

const renewal = (id: string) => {
  const { customer: _, ...body } = chargeBody('789', { capture_mode: 'merchant_initiated' });
  return { ...body, payment_token_id: id };
};

const recurringOf = (id: string) =>
  payments.call<RecurringView>('POST', RECURRING_PATH, {
    payment_token_id: id,
    amount_minor: 300_000,
    interval: 'month',
    start_at: new Date(Date.now() + 86_400_000).toISOString(),
  });

describe('a payment token that its tenant deletes', () => {
  test('is revoked here at once and then at its provider, and its recurring charges are past due', async () => {
    const before = await revocations();
    const { token } = await activeToken(payments);
    const { payment_token_id: id } = token;
    const recurring = (await recurringOf(id)).body.data.id;
    const key = randomUUID();
    const deleted = await remove(id, key);
    expect([deleted.status, deleted.body.data]).toEqual([200, { ...token, status: 'revoked' }]);
    const shown = await payments.call<RecurringView>('GET', `${RECURRING_PATH}/${recurring}`);
    expect(shown.body.data.status).toBe('past_due');
    await isRevoked(id);
    expect(await revocations()).toBe(before + 1);

    const again = await remove(id, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([deleted.text, 'true']);
    expect((await remove(id)).text).toBe(deleted.text);
    const { token: other } = await activeToken(payments);
    const reused = await remove(other.payment_token_id, key);
    expect([reused.status, reused.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    expect((await stored(other.payment_token_id)).status).toBe('active');
    expect(await revocations()).toBe(before + 1);
    const events = await eventually('the event arrives', () =>
      at.events(recurring).length > 0 ? at.events(recurring) : undefined,
    );
    expect(events.map(({ event }) => event)).toEqual(['recurring_charge.past_due']);
    await payments.call('POST', `${RECURRING_PATH}/${recurring}/cancel`, {});
  });

  test('by many requests together is revoked once', async () => {
    const before = await revocations();
    const { token } = await activeToken(payments);
    const replies = await Promise.all([1, 2, 3, 4].map(() => remove(token.payment_token_id)));
    expect(replies.map(({ status, body }) => [status, body.data.status])).toEqual(
      replies.map(() => [200, 'revoked']),
    );
    await isRevoked(token.payment_token_id);
    expect(await revocations()).toBe(before + 1);
  });

  test('at a silent provider cannot be charged meanwhile, calls an operator, and is revoked there in the end', async () => {
    const before = await revocations();
    const { token } = await activeToken(payments);
    const { payment_token_id: id } = token;
    await service.bank.faults([SILENT]);
    expect((await remove(id)).body.data.status).toBe('revoked');
    for (const refused of [await payments.charge(renewal(id)), await recurringOf(id)]) {
      expect([refused.status, refused.body.error.code]).toEqual([422, 'invalid_state']);
    }
    const { attention, revoking } = await eventually('an operator is called', async () => {
      const found = await stored(id);
      return found.attention ? found : undefined;
    });
    expect(attention?.reason).toBe('the provider has not revoked its authorization: unknown');
    expect(typeof revoking).toBe('string');
    const listed = await bursar('payment-tokens list --attention --json', service.env);
    expect(JSON.parse(listed.out)).toContainEqual(
      expect.objectContaining({ id, attention: attention?.reason, revoked_at_provider: false }),
    );
    const shown = await bursar(`payment-tokens show ${id} --json`, service.env);
    expect(JSON.parse(shown.out)).toMatchObject({ tenant: tenant.id, status: 'revoked' });
    expect(shown.out).not.toContain(revoking);
    const rows = await examineBacklog(service.deps.database.db);
    expect(rows.find(({ check }) => check === 'payment-tokens: attention')).toMatchObject({
      ok: false,
    });
    await service.bank.faults([]);
    await isRevoked(id);
    expect(await stored(id)).toMatchObject({ attention: null, next_check_at: null });
    expect(await revocations()).toBe(before + 1);
  });

  test('fails the planned retry of an earlier charge', async () => {
    const { token } = await activeToken(payments, 'later_low_funds');
    const body = renewal(token.payment_token_id);
    await payments.charge(body);
    await eventually('the first attempt is declined', async () => {
      const record = await service.deps.charges.store.byReference(tenant.id, body.reference);
      return record?.first_declined_at ?? undefined;
    });
    await remove(token.payment_token_id);
    const { failure } = await payments.waitFor(body.reference, 'failed');
    expect(failure?.code).toBe('token_revoked');
  });

  test('does not fail a charge that may still be executed, which is booked once it is', async () => {
    const { token } = await activeToken(payments);
    const body = renewal(token.payment_token_id);
    await service.bank.faults([
      SILENT,
      { call: 'charge', kind: 'slow', probability: 1, ms: 20_000 },
    ]);
    await payments.charge(body);
    const charge = () => service.deps.charges.store.byReference(tenant.id, body.reference);
    await eventually('it is submitted', async () =>
      Number((await charge())?.submissions) >= 1 ? true : undefined,
    );
    await remove(token.payment_token_id);
    const refused = await eventually('it is not submitted again', async () => {
      const found = await charge();
      return (found?.rejected_submissions ?? 0) > 0 ? found : undefined;
    });
    expect(refused).toMatchObject({ status: 'processing', failure: null });
    // The provider is asked at once; the charge's own workflow asks when absence would be proven.
    await eventually('it is booked', async () => {
      const { body: found } = await payments.verify(body.reference);
      return found.data.status === 'completed' ? true : undefined;
    });
    const events = () =>
      at
        .events()
        .filter(({ data }) => data['reference'] === body.reference)
        .map(({ event }) => event);
    await eventually('its event arrives', () => (events().length > 0 ? true : undefined));
    expect(events()).toEqual(['charge.completed']);
  });

  test('while its page is open is not bound, and the method that is left there is revoked too', async () => {
    await allRevoked();
    const before = await revocations();
    const customer = newCustomer();
    const { payment_token_id } = await payments.token(customer);
    const { url, reference } = await payments.page('789', { customer, payment_token_id });
    expect((await remove(payment_token_id)).body.data.status).toBe('revoked');
    await onPage(url);
    await payments.waitFor(reference, 'completed');
    expect((await stored(payment_token_id)).status).toBe('revoked');
    await eventually('its provider has revoked the method', async () =>
      (await revocations()) === before + 1 ? true : undefined,
    );
    await isRevoked(payment_token_id);
  });

  test('while two of its pages are open has the methods of both revoked, also if the second is left before the first is revoked', async () => {
    await allRevoked();
    const before = await revocations();
    const customer = newCustomer();
    const { payment_token_id } = await payments.token(customer);
    const pages = [];
    for (let i = 0; i < 2; i += 1) {
      pages.push(await payments.page('789', { customer, payment_token_id }));
    }
    await remove(payment_token_id);
    await service.bank.faults([SILENT]);
    for (const { url, reference } of pages) {
      await onPage(url);
      await payments.waitFor(reference, 'completed');
    }
    const { revoking, revoking_later: later } = await stored(payment_token_id);
    expect([typeof revoking, later]).toEqual(['string', [expect.any(String)]]);
    expect(later).not.toContain(revoking);
    // As secret as the first one: MongoDB has neither in clear.
    const { client, db } = service.deps.database;
    const raw = client.db(db.databaseName).collection<PaymentToken>('payment_tokens');
    const sealed = await raw.findOne({ _id: payment_token_id });
    expect(JSON.stringify(sealed)).not.toContain(String(later?.[0]));
    await service.bank.faults([]);
    await isRevoked(payment_token_id);
    expect(await revocations()).toBe(before + 2);
    expect(await stored(payment_token_id)).toMatchObject({
      revoking: null,
      revoking_later: [],
      next_check_at: null,
    });
  });

  test('with another token of the same authorization leaves that one chargeable', async () => {
    await allRevoked();
    const before = await revocations();
    const { token } = await activeToken(payments);
    const { _id: _, ...first } = await stored(token.payment_token_id);
    const twin = paymentToken({ ...first, version: 1 });
    await tokens().insertOne(twin);
    await remove(token.payment_token_id);
    await isRevoked(token.payment_token_id);
    expect(await revocations()).toBe(before);
    const body = renewal(twin._id);
    await payments.charge(body);
    await payments.waitFor(body.reference, 'completed');
    await remove(twin._id);
    await isRevoked(twin._id);
    expect(await revocations()).toBe(before + 1);
  });
});
