import { randomUUID } from 'node:crypto';
import {
  afterChargeChange,
  changeTerms,
  loseToken,
  markCharged,
  resume,
} from '../../src/capabilities/recurring-charges/transitions.js';
import {
  scheduleId,
  type RecurringCharge,
} from '../../src/capabilities/recurring-charges/record.js';
import { eventually } from '../support/eventually.js';
import {
  activeToken,
  type newCustomer,
  paymentClient,
  type PaymentClient,
  type TokenView,
} from '../support/payments.js';
import {
  recurringCharge,
  RECURRING_PATH as PATH,
  type RecurringView,
} from '../support/recurring.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const START = new Date('2026-01-31T08:00:00.000Z');
const after = (days: number) => new Date(START.getTime() + days * DAY_MS);

describe('another end', () => {
  const daily = (changes: Partial<RecurringCharge> = {}) =>
    recurringCharge({ interval: 'day', start_at: START, ...changes });

  test('after the last period continues with the period that begins next: none that has begun meanwhile is charged', () => {
    const unpaid = [
      { charge_id: 'chg_1', reference: 'rec_1-0', period: 0, status: 'declined' as const },
    ];
    const over = daily({ count: 1, next_period: 1, next_charge_at: null, unpaid });
    const { next } = changeTerms(over, { end: { end_at: null, count: 10 } }, after(5.5));
    expect(next).toMatchObject({ next_period: 6, next_charge_at: after(6), count: 10 });
    const { next: none } = changeTerms(over, { end: { end_at: null, count: 5 } }, after(5.5));
    expect(none).toMatchObject({ status: 'past_due', next_charge_at: null });
  });

  test('leaves periods that were missed before due', () => {
    const late = daily({ next_period: 2, next_charge_at: after(2) });
    const { next } = changeTerms(late, { end: { end_at: after(30), count: null } }, after(5.5));
    expect(next).toMatchObject({ next_period: 2, next_charge_at: after(2) });
  });

  test('before the next period ends the recurring charge, once its charges have ended', () => {
    const end = { end_at: null, count: 2 };
    const paid = daily({ next_period: 2, next_charge_at: after(2) });
    const ended = changeTerms(paid, { end }, after(1));
    expect([ended.next.status, ended.events]).toEqual(['ended', ['ended']]);
    const open = { charge_id: 'chg_1', reference: 'rec_1-1', period: 1, status: 'open' as const };
    const { next, events } = changeTerms({ ...paid, unpaid: [open] }, { end }, after(1));
    expect([next.status, next.next_charge_at, events]).toEqual(['active', null, []]);
  });
});

/** The charge of a period, without its end. */
const ofPeriod = ({ _id: id, payment_token_id }: RecurringCharge, period: number) => ({
  _id: `chg_${period}`,
  reference: `rec-${period}`,
  first_declined_at: null,
  recurring: { id, period },
  payment_token_id,
});

describe('a bound on failed periods', () => {
  /** The recurring charge after charges of its next periods that end so, with the names of its events. */
  function ended(changes: Partial<RecurringCharge>, ...ends: ('completed' | 'failed')[]) {
    let recurring = recurringCharge({ interval: 'day', start_at: START, ...changes });
    const events: string[] = [];
    for (const [period, status] of ends.entries()) {
      if (recurring.next_charge_at === null) break;
      const charge = { _id: `chg_${period}`, reference: `rec-${period}` };
      const charged = markCharged(recurring, charge, after(period)).next;
      const known = { ...ofPeriod(recurring, period), failure: null };
      const step = afterChargeChange(charged, { ...charge, ...known, status }, after(period));
      recurring = step.next;
      events.push(...step.events);
    }
    return { recurring, events };
  }

  test('ends it after so many in a row, and a paid one begins the count again', () => {
    const { recurring, events } = ended(
      { max_failed_periods: 2 },
      'failed',
      'completed',
      'failed',
      'failed',
      'completed',
    );
    expect(recurring).toMatchObject({ status: 'ended', charged_periods: 4, next_charge_at: null });
    expect(events).toEqual(['past_due', 'renewed', 'past_due', 'ended']);
  });

  test('waits for a charge that is still open, and a resumption begins the count again', () => {
    const open = { charge_id: 'chg_a', reference: 'rec-a', period: -1, status: 'open' as const };
    const waits = ended({ max_failed_periods: 1, unpaid: [open] }, 'failed').recurring;
    expect(waits).toMatchObject({ status: 'past_due', next_charge_at: null });
    const once = ended({ max_failed_periods: 2 }, 'failed').recurring;
    expect(resume(once, after(1)).next).toMatchObject({ status: 'active', failed_periods: 0 });
  });

  test('is none if none was named, also for a recurring charge of an earlier release', () => {
    const { recurring } = ended({}, 'failed', 'failed', 'failed');
    expect(recurring).toMatchObject({ status: 'past_due', charged_periods: 3 });
    expect(recurring.next_charge_at).not.toBeNull();
  });
});

describe('a recurring charge whose token can never be charged again', () => {
  const fails = (code: string, changes: Partial<RecurringCharge> = {}) => {
    const recurring = recurringCharge({ interval: 'day', start_at: START, ...changes });
    const failed = { status: 'failed' as const, failure: { code, message: 'It failed.' } };
    const charge = { ...ofPeriod(recurring, 0), ...failed, payment_token_id: 'tok_a' };
    return afterChargeChange(recurring, charge, after(1)).next;
  };

  test.each(['expired_card', 'lost_card', 'stolen_card', 'authorization_revoked', 'token_revoked'])(
    'by %s is past due until it has another one, also after a resumption',
    (code) => {
      const resumed = resume(fails(code), after(2));
      expect([resumed.next.status, resumed.events]).toEqual(['past_due', []]);
      const terms = { payment_token_id: 'tok_b' };
      expect(changeTerms(resumed.next, terms, after(3)).next.status).toBe('active');
    },
  );

  test('is active again after a resumption if another decline has failed it, or it has another token by then', () => {
    for (const failed of [
      fails('insufficient_funds'),
      fails('expired_card', { payment_token_id: 'tok_b' }),
    ]) {
      expect(failed.status).toBe('past_due');
      expect(resume(failed, after(2)).next.status).toBe('active');
    }
  });
});

test('a paused recurring charge whose token is deleted is past due when it is resumed, not before', () => {
  const { next, events } = loseToken(recurringCharge({ status: 'paused' }), START);
  expect([next.status, next.token_revoked, events]).toEqual(['paused', true, []]);
});

describe('a request to change a recurring charge', () => {
  let service: Service;
  let tenant: TestTenant;
  let payments: PaymentClient;
  let token: TokenView;
  let customer: ReturnType<typeof newCustomer>;

  beforeAll(async () => {
    service = await shareService();
    tenant = await service.tenant();
    payments = paymentClient(tenant);
    ({ token, customer } = await activeToken(payments));
  });
  afterAll(async () => {
    if (!service) return;
    const { recurringCharges, temporal } = service.deps;
    for (const { _id } of await recurringCharges.store.latest({}, 100)) {
      const schedule = temporal.client.schedule.getHandle(scheduleId(_id));
      await schedule.delete().catch(() => undefined);
    }
    await service.close();
  });

  async function create(changes: Record<string, unknown> = {}): Promise<string> {
    const reply = await payments.call<RecurringView>('POST', PATH, {
      payment_token_id: token.payment_token_id,
      amount_minor: 300_000,
      interval: 'month',
      start_at: new Date(Date.now() + DAY_MS).toISOString(),
      ...changes,
    });
    if (reply.status !== 201) throw new Error(`not accepted: ${reply.text}`);
    return reply.body.data.id;
  }
  const patch = (id: string, changes: Record<string, unknown>, client = payments) =>
    client.call<RecurringView>('PATCH', `${PATH}/${id}`, changes);
  const stored = async (id: string) =>
    (await service.deps.recurringCharges.store.get(tenant.id, id)) as RecurringCharge;

  test('counts from the next period on, and once under its key', async () => {
    const id = await create({ start_at: undefined });
    await payments.waitFor(`${id}-0`, 'completed');
    const changes = { amount_minor: 450_000, count: 1, idempotency_key: randomUUID() };
    const changed = await patch(id, changes);
    expect(changed.body.data).toMatchObject({ amount_minor: 450_000, count: 1, status: 'ended' });
    const again = await patch(id, changes);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([changed.text, 'true']);
    const other = await patch(id, { ...changes, count: 2 });
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    expect((await payments.get(`${id}-0`)).amount_minor).toBe(300_000);
    const late = await patch(id, { amount_minor: 1_000 });
    expect([late.status, late.body.error.code]).toEqual([422, 'invalid_state']);
  });

  test('is made once for each request and once for each key, however many arrive together', async () => {
    const id = await create();
    const { version } = await stored(id);
    const amounts = [100_000, 200_000, 400_000, 500_000, 600_000];
    const replies = await Promise.all(amounts.map((each) => patch(id, { amount_minor: each })));
    expect(replies.map(({ status }) => status)).toEqual(amounts.map(() => 200));
    // Each answer shows its own change, and the latest one is in force.
    expect(replies.map(({ body }) => body.data.amount_minor)).toEqual(amounts);
    expect(amounts).toContain(Number((await stored(id)).amount_minor));
    expect((await stored(id)).version).toBeGreaterThanOrEqual(version + amounts.length);

    const keyed = { amount_minor: 700_000, idempotency_key: randomUUID() };
    const same = await Promise.all(amounts.map(() => patch(id, keyed)));
    expect(new Set(same.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    await patch(id, { amount_minor: 800_000 });
    await patch(id, keyed);
    expect((await stored(id)).amount_minor).toBe(800_000n);
  });

  test('of its amount and end is shown by its Schedule', async () => {
    const id = await create();
    await patch(id, { amount_minor: 123_400, end_at: '2040-01-01T00:00:00Z' });
    const { spec, state } = await eventually('the Schedule is changed', async () => {
      const found = await service.deps.temporal.client.schedule
        .getHandle(scheduleId(id))
        .describe()
        .catch(() => null);
      return found?.spec.endAt ? found : undefined;
    });
    expect(spec.endAt).toEqual(new Date('2040-01-01T00:00:00Z'));
    expect(state.note).toMatch(/^NGN 1,234\.00 every month/);
  });

  test('gives it an active token of the same customer, which is charged from the next period on', async () => {
    const id = await create();
    await payments.call('DELETE', `/payments/tokens/${token.payment_token_id}`);
    expect((await stored(id)).status).toBe('past_due');
    const unbound = await payments.token(customer);
    const foreign = await activeToken(payments);
    for (const { payment_token_id } of [token, unbound, foreign.token]) {
      const refused = await patch(id, { payment_token_id });
      expect([refused.status, refused.body.error.code, refused.body.error.field]).toEqual([
        422,
        'invalid_state',
        'payment_token_id',
      ]);
    }
    const { token: next } = await activeToken(payments, 'good', customer);
    const { body } = await patch(id, { payment_token_id: next.payment_token_id });
    expect(body.data).toMatchObject({
      status: 'active',
      payment_token_id: next.payment_token_id,
    });
    await service.deps.database.db
      .collection<RecurringCharge>('recurring_charges')
      .updateOne(
        { _id: id },
        { $set: { next_charge_at: new Date(Date.now() - 1_000), next_check_at: new Date(0) } },
      );
    await eventually('its first charge is paid', async () =>
      (await payments.get(`${id}-0`))?.status === 'completed' ? true : undefined,
    );
    expect((await payments.get(`${id}-0`)).payment_token_id).toBe(next.payment_token_id);
    token = next;
  });

  test('names the field that is wrong, and is for its tenant alone', async () => {
    const id = await create();
    const cases: [Record<string, unknown>, string][] = [
      [{}, 'body'],
      [{ amount_minor: 0 }, 'amount_minor'],
      [{ count: 3, end_at: '2040-01-01T00:00:00Z' }, 'count'],
      [{ count: 0 }, 'count'],
      [{ end_at: '2020-01-01T00:00:00Z' }, 'end_at'],
      [{ interval: 'day' }, 'interval'],
      [{ payment_token_id: 'tok_1' }, 'payment_token_id'],
    ];
    for (const [changes, field] of cases) {
      const { status, body } = await patch(id, changes);
      expect([changes, status, body.error.code, body.error.field]).toEqual([
        changes,
        400,
        'validation_error',
        field,
      ]);
    }
    const other = paymentClient(await service.tenant());
    expect((await patch(id, { amount_minor: 1_000 }, other)).status).toBe(404);
  });
});
