import { acceptRecurringCharge } from '../../src/capabilities/recurring-charges/mutations.js';
import type { Charge } from '../../src/capabilities/charges/record.js';
import { randomUUID } from 'node:crypto';
import {
  nextPeriod,
  scheduleId,
  type RecurringCharge,
} from '../../src/capabilities/recurring-charges/record.js';
import { createSchedules } from '../../src/capabilities/recurring-charges/workflow-starter.js';
import type { PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import { allAtOnce } from '../support/at-once.js';
import { eventually } from '../support/eventually.js';
import { shareListening, type Listening } from '../support/listening.js';
import {
  activeToken,
  onPage,
  paymentClient,
  type PaymentClient,
  type TokenView,
} from '../support/payments.js';
import {
  recurringCharge,
  RECURRING_PATH as PATH,
  type RecurringView,
} from '../support/recurring.js';
import type { Receiver } from '../support/receiver.js';
import type { Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

const DAY_MS = 24 * 60 * 60 * 1000;

let all: Listening;
let at: Receiver;
let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;
let token: TokenView;

beforeAll(async () => {
  all = await shareListening();
  service = all.service;
  at = await all.receiver();
  ({ tenant } = await all.tenant(at));
  payments = paymentClient(tenant);
  ({ token } = await activeToken(payments));
});
afterAll(async () => {
  if (!all) return;
  const { recurringCharges, temporal } = service.deps;
  for (const { _id } of await recurringCharges.store.latest({}, 100)) {
    const schedule = temporal.client.schedule.getHandle(scheduleId(_id));
    await schedule.delete().catch(() => undefined);
  }
  await all.close();
});

const body = (changes: Record<string, unknown> = {}) => ({
  payment_token_id: token.payment_token_id,
  amount_minor: 300_000,
  interval: 'month',
  ...changes,
});

async function create(changes: Record<string, unknown> = {}): Promise<RecurringView> {
  const reply = await payments.call<RecurringView>('POST', PATH, body(changes));
  if (reply.status !== 201) throw new Error(`not accepted: ${reply.text}`);
  return reply.body.data;
}

const get = async (id: string) =>
  (await payments.call<RecurringView>('GET', `${PATH}/${id}`)).body.data;

const act = async (id: string, change: string, key?: string) =>
  payments.call<RecurringView>(
    'POST',
    `${PATH}/${id}/${change}`,
    key ? { idempotency_key: key } : {},
  );

const scheduleOf = (id: string) => service.deps.temporal.client.schedule.getHandle(scheduleId(id));

const collection = () => service.deps.database.db.collection<RecurringCharge>('recurring_charges');

/** Makes the next check by recovery due now. */
const lookNow = (id: string) =>
  collection().updateOne({ _id: id }, { $set: { next_check_at: new Date(0) } });

const chargesOf = (id: string) =>
  service.deps.database.db
    .collection<Charge & { recurring: { period: number } }>('charges')
    .find({ 'recurring.id': id })
    .sort({ _id: 1 })
    .toArray();

/** Longest wait for the submission of a period's charge before the next period is charged. */
const SUBMITTED_WITHIN_MS = 3_000;

/** False if the next period was charged because the longest wait for the submission of this charge had ended. */
function isWaitedFor(charge: Charge, next: Charge | undefined): next is Charge {
  if (!next) return false;
  const { created_at: madeAt, first_submitted_at: submittedAt } = charge;
  const isSubmitted = submittedAt !== null && submittedAt < next.created_at;
  return isSubmitted || Number(next.created_at) - Number(madeAt) < SUBMITTED_WITHIN_MS;
}

async function firstPaid(id: string): Promise<void> {
  await eventually('its first charge is paid', async () =>
    (await chargesOf(id))[0]?.status === 'completed' ? true : undefined,
  );
}

const isPaused = (id: string, paused: boolean) =>
  eventually(`the Schedule is ${paused ? 'paused' : 'not paused'}`, async () =>
    (await scheduleOf(id).describe()).state.paused === paused ? true : undefined,
  );

test('a renewal that its customer must confirm waits for that, and is renewed then', async () => {
  const saved = await activeToken(payments, 'later_confirmed');
  const { payment_token_id } = saved.token;
  const { id } = await create({ payment_token_id, count: 1 });
  const [charge] = await eventually('its first charge', async () => {
    const made = await chargesOf(id);
    return made.length > 0 ? made : undefined;
  });
  const reference = String(charge?.reference);
  const { next_action: page } = await payments.waitFor(reference, 'requires_action');
  expect(await get(id)).toMatchObject({ charged_periods: 1, last_paid_reference: null });
  await onPage(String(page?.url));
  await payments.waitFor(reference, 'completed');
  await eventually('it is renewed', async () =>
    (await get(id)).last_paid_reference === reference ? true : undefined,
  );
});

describe('a recurring charge and its Schedule', () => {
  allAtOnce((test) => {
    test('charged when its Schedule fires; a run that is too early waits for the moment, and nothing is charged twice', async () => {
      const { id } = await create({ start_at: new Date(Date.now() + 12_000).toISOString() });
      await eventually('the Schedule', () => scheduleOf(id).describe());
      await scheduleOf(id).trigger();
      await firstPaid(id);
      // By the trigger and by the clock.
      await eventually('both runs have ended', async () => {
        const { numActionsTaken, runningActions } = (await scheduleOf(id).describe()).info;
        return numActionsTaken === 2 && runningActions.length === 0 ? true : undefined;
      });
      expect(await chargesOf(id)).toHaveLength(1);
    });

    test('charged at its start, shown as a readable Schedule, and not charged again when it is triggered', async () => {
      const { id, status, next_charge_at: next } = await create({ description: 'Gold plan' });
      expect([status, next]).toEqual(['active', (await get(id)).start_at]);
      await firstPaid(id);
      const { state, spec, policies } = await eventually('the Schedule', () =>
        scheduleOf(id).describe(),
      );
      expect(state.note).toMatch(/^NGN 3,000\.00 every month on the \d+\w\w/);
      expect(spec.timezone).toBe('Africa/Lagos');
      expect(policies.overlap).toBe('BUFFER_ONE');
      await scheduleOf(id).trigger();
      await eventually('its run has ended', async () => {
        const { numActionsTaken, runningActions } = (await scheduleOf(id).describe()).info;
        return numActionsTaken === 1 && runningActions.length === 0 ? true : undefined;
      });
      expect(await chargesOf(id)).toMatchObject([{ status: 'completed', reference: `${id}-0` }]);
      expect(await get(id)).toMatchObject({
        charged_periods: 1,
        last_paid_reference: `${id}-0`,
        description: 'Gold plan',
      });
      await eventually('the event arrives', () => at.events(id)[0]);
      expect(at.events(id)).toMatchObject([
        { event: 'recurring_charge.renewed', sequence: 1, data: await get(id) },
      ]);
    });

    test('after an outage every missed period is charged without a request, the oldest first at the provider', async () => {
      const start = new Date(Math.floor(Date.now() / 1000) * 1000 - 3 * DAY_MS - 60_000);
      const recurring = recurringCharge({
        tenant_id: tenant.id,
        payment_token_id: token.payment_token_id,
        customer_id: token.customer_id,
        interval: 'day',
        start_at: start,
        next_check_at: new Date(),
      });
      // Committed by a process that died before it did anything else.
      const { _id: id } = recurring;
      const answer = { status: 201, body: '{}' };
      await service.deps.groupCommit.commit(acceptRecurringCharge, {
        tenantId: tenant.id,
        id,
        recurring,
        claim: null,
        answer,
      });
      const made = await eventually('every period is charged', async () => {
        const charges = await chargesOf(id);
        return charges.filter((one) => one.status === 'completed').length === 4
          ? charges
          : undefined;
      });
      expect(made.map((charge) => charge.recurring.period)).toEqual([0, 1, 2, 3]);
      const journal = await service.bank.journal();
      const ids = made.map(({ _id }) => _id);
      const paid = journal
        .map(({ reference }) => reference.replace(/-1$/, ''))
        .filter((reference) => ids.includes(reference));
      expect(paid.toSorted()).toEqual(ids);
      for (const [i, charge] of made.entries()) {
        if (isWaitedFor(charge, made[i + 1]))
          expect(paid.slice(paid.indexOf(charge._id))).toEqual(
            expect.arrayContaining(ids.slice(i + 1)),
          );
      }
    });

    test('a Schedule is paused, resumed and deleted with its record; changes by an operator are repaired', async () => {
      const { id } = await create({ start_at: new Date(Date.now() + DAY_MS).toISOString() });
      await eventually('the Schedule', () => scheduleOf(id).describe());
      expect((await act(id, 'pause')).body.data.status).toBe('paused');
      await isPaused(id, true);
      await scheduleOf(id).unpause('by hand');
      await lookNow(id);
      await isPaused(id, true);
      expect((await act(id, 'resume')).body.data.status).toBe('active');
      await isPaused(id, false);
      await scheduleOf(id).delete();
      await lookNow(id);
      await eventually('the Schedule is back', () => scheduleOf(id).describe());
      expect((await act(id, 'cancel')).body.data.status).toBe('cancelled');
      await eventually('the Schedule is gone', () =>
        scheduleOf(id)
          .describe()
          .then(() => undefined)
          .catch(() => true),
      );
      expect(await chargesOf(id)).toEqual([]);
    });

    test('a Schedule that was put back by mistake is deleted by its own run', async () => {
      const { id } = await create({ start_at: new Date(Date.now() + DAY_MS).toISOString() });
      const before = (await collection().findOne({ _id: id })) as RecurringCharge;
      await act(id, 'cancel');
      await eventually('nothing is left to do', async () =>
        (await collection().findOne({ _id: id }))?.next_check_at === null ? true : undefined,
      );
      await service.deps.recurringCharges.starter.schedules.keep(before);
      await scheduleOf(id).trigger();
      await eventually('the Schedule is gone', () =>
        scheduleOf(id)
          .describe()
          .then(() => undefined)
          .catch(() => true),
      );
    });

    test('a revoked token fails each period’s charge, with an event for the tenant', async () => {
      const { token: own } = await activeToken(payments);
      const tokens = service.deps.database.db.collection<PaymentToken>('payment_tokens');
      const start = { start_at: new Date(Date.now() + DAY_MS).toISOString() };
      const reply = await payments.call<RecurringView>('POST', PATH, {
        ...body(start),
        payment_token_id: own.payment_token_id,
        count: 1,
      });
      const { id } = reply.body.data;
      await tokens.updateOne({ _id: own.payment_token_id }, { $set: { status: 'revoked' } });
      await collection().updateOne(
        { _id: id },
        { $set: { next_charge_at: new Date(Date.now() - 1_000), next_check_at: new Date(0) } },
      );
      await eventually('there is a charge', async () =>
        (await chargesOf(id))[0] ? true : undefined,
      );
      const failed = await payments.waitFor(`${id}-0`, 'failed');
      expect(failed.failure?.code).toBe('token_revoked');
      const events = await eventually('the event arrives', () => {
        const received = at.events(id).map(({ event, sequence }) => [event, sequence]);
        return received.length > 0 ? received : undefined;
      });
      // Its only period: it has ended, and so it says no more than that.
      expect(events).toEqual([['recurring_charge.ended', 1]]);
      expect(await get(id)).toMatchObject({ status: 'ended', unpaid_references: [`${id}-0`] });
    });
  });

  test('the Schedule fires when periods begin, also at the ends of months, and is written once', async () => {
    const { config, temporal } = service.deps;
    const { client } = temporal;
    const taskQueue = `nobody-${randomUUID()}`;
    const schedules = createSchedules({ client, taskQueue });
    expect(config.temporal.namespace).toBe('bursar-sandbox');
    const year = new Date().getUTCFullYear() + 1;
    const rhythms: Partial<RecurringCharge>[] = [
      { start_at: new Date(`${year}-01-31T08:00:00Z`) },
      { start_at: new Date(`${year}-01-30T23:30:07Z`), interval_count: 3 },
      {
        start_at: new Date(`${year}-08-30T08:00:00Z`),
        timezone: 'Europe/London',
        interval_count: 6,
      },
      { start_at: new Date('2028-02-29T08:00:00Z'), interval: 'year' },
      { start_at: new Date('2028-02-29T08:00:00Z'), interval: 'year', interval_count: 3 },
      { start_at: new Date(`${year}-05-15T08:00:00Z`), interval_count: 24 },
      { start_at: new Date(`${year}-05-15T08:00:00Z`), interval: 'day', interval_count: 10 },
      {
        start_at: new Date(`${year}-05-15T08:00:00Z`),
        interval: 'week',
        timezone: 'America/New_York',
      },
      {
        start_at: new Date(`${year}-05-15T08:00:00Z`),
        end_at: new Date(`${year}-09-01T00:00:00Z`),
      },
    ];
    for (const rhythm of rhythms) {
      const recurring = recurringCharge({ ...rhythm, next_charge_at: rhythm.start_at ?? null });
      const handle = client.schedule.getHandle(scheduleId(recurring._id));
      try {
        await schedules.keep(recurring);
        const { info } = await handle.describe();
        const periods = info.nextActionTimes.map((_, period) => nextPeriod(recurring, period)?.at);
        expect(info.nextActionTimes).toEqual(periods);
        expect(periods.length).toBeGreaterThan(3);
        await schedules.keep(recurring);
        expect((await handle.describe()).info.lastUpdatedAt).toEqual(info.lastUpdatedAt);
      } finally {
        await handle.delete();
      }
    }
  });
});

describe('the API of recurring charges', () => {
  const future = () => new Date(Date.now() + DAY_MS).toISOString();

  test('names the field that is wrong', async () => {
    const past = new Date(Date.now() - DAY_MS).toISOString();
    const cases: [Record<string, unknown>, string][] = [
      [{ interval: 'fortnight' }, 'interval'],
      [{ interval_count: 0 }, 'interval_count'],
      [{ interval_count: 37 }, 'interval_count'],
      [{ interval: 'year', interval_count: 4 }, 'interval_count'],
      [{ count: 0 }, 'count'],
      [{ count: 3, end_at: future() }, 'count'],
      [{ end_at: past }, 'end_at'],
      [{ end_at: '9999-12-31T23:59:59-12:00' }, 'end_at'],
      [{ start_at: future(), end_at: future().replace(/^\d{4}/, '2025') }, 'end_at'],
      [{ start_at: past }, 'start_at'],
      [{ start_at: '2099-01-01T00:00:00Z' }, 'start_at'],
      [{ start_at: '2027-01-01' }, 'start_at'],
      [{ timezone: '+01:00' }, 'timezone'],
      [{ timezone: 'Africa/Abuja' }, 'timezone'],
      [{ amount_minor: 0 }, 'amount_minor'],
      [{ currency: 'USD' }, 'currency'],
      [{ metadata: { card: '4084084084084081' } }, 'metadata.card'],
      [{ payment_token_id: 'tok_1' }, 'payment_token_id'],
      [{ cvv: '123' }, 'cvv'],
    ];
    for (const [changes, field] of cases) {
      const { status, body: answer } = await payments.call('POST', PATH, body(changes));
      expect([changes, status, answer.error.code, answer.error.field]).toEqual([
        changes,
        400,
        'validation_error',
        field,
      ]);
    }
  });

  test('takes an active token of one’s own, and no other', async () => {
    const unbound = await payments.token();
    const other = paymentClient(await service.tenant());
    const tries = [
      [payments, { payment_token_id: unbound.payment_token_id }, 422, 'invalid_state'],
      [other, {}, 404, 'not_found'],
    ] as const;
    for (const [client, changes, status, code] of tries) {
      const reply = await client.call('POST', PATH, body(changes));
      expect([reply.status, reply.body.error.code, reply.body.error.field]).toEqual([
        status,
        code,
        'payment_token_id',
      ]);
    }
  });

  test('a key makes one of it, and one change of it', async () => {
    const request = body({ start_at: future(), idempotency_key: randomUUID() });
    const [first, second] = [
      await payments.call<RecurringView>('POST', PATH, request),
      await payments.call('POST', PATH, request),
    ];
    expect([first.status, second.text]).toEqual([201, first.text]);
    const { id } = first.body.data;
    expect(first.headers.get('location')).toBe(`/api/v1${PATH}/${id}`);
    const key = randomUUID();
    const paused = await act(id, 'pause', key);
    await act(id, 'resume');
    // A retry that comes late pauses nothing.
    const again = await act(id, 'pause', key);
    expect([paused.status, again.text]).toEqual([200, paused.text]);
    expect((await get(id)).status).toBe('active');
    expect((await act(id, 'cancel')).status).toBe(200);
    const refused = await act(id, 'resume');
    expect([refused.status, refused.body.error.code]).toEqual([422, 'invalid_state']);
    const listed = await payments.call<RecurringView[]>('GET', `${PATH}?status=cancelled`);
    expect(listed.body.data.map((one) => one.id)).toContain(id);
  });

  test('the zone is kept as it is written, the time in whole seconds', async () => {
    const made = await create({
      start_at: '2027-03-01T10:00:00.750+01:00',
      timezone: 'europe/paris',
    });
    expect(made).toMatchObject({ timezone: 'Europe/Paris', start_at: '2027-03-01T09:00:00.000Z' });
  });
});
