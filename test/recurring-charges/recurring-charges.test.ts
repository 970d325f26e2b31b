import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import {
  acceptRecurringCharge,
  updateRecurringCharge,
} from '../../src/capabilities/recurring-charges/mutations.js';
import { audits } from '../../src/composition/capabilities.js';
import { DAY_MS, HOUR_MS } from '../../src/shared/durations.js';
import { newId } from '../../src/shared/ids.js';
import { STALLED } from '../../src/core/supervision/stalls.js';
import { auditLedger } from '../../src/core/ledger/audit.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import type { Charge } from '../../src/capabilities/charges/record.js';
import type { ChargeFact } from '../../src/capabilities/charges/facts.js';
import { createCharges, type Charges } from '../../src/capabilities/charges/store.js';
import type { Change } from '../../src/capabilities/recurring-charges/transitions.js';
import type { RecurringCharge } from '../../src/capabilities/recurring-charges/record.js';
import {
  createRecurringCharges,
  type RecurringCharges,
} from '../../src/capabilities/recurring-charges/store.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { paymentToken, recurringCharge } from '../support/recurring.js';
import { byProvider } from '../support/transfers.js';

const START = new Date('2026-01-31T08:00:00.000Z');

let database: TestDatabase;
let charges: Charges;
let recurringCharges: RecurringCharges;
/** The time as the store of recurring charges sees it; no test waits for any. */
let now: Date;

/** The tenants that are frozen. */
const frozen = new Set<string>();

const storeOf = (db: TestDatabase) =>
  createRecurringCharges(
    db,
    createGroupCommit(db),
    {
      stallTimeoutMs: 30_000,
      frozenOf: async (ids) => ids.filter((id) => frozen.has(id)),
      dunningDays: async () => [1, 3, 5, 7],
    },
    () => now,
  );

beforeAll(async () => {
  database = await openTestDatabase();
  charges = createCharges(database, createGroupCommit(database), 1_000);
  recurringCharges = storeOf(database);
});
afterAll(() => database?.close());
beforeEach(() => {
  now = START;
});

/** Does for these recurring charges as the dispatcher does. */
async function recover(all: readonly RecurringCharge[]): Promise<void> {
  const ids = new Set(all.map(({ _id }) => _id));
  const { claimed } = await recurringCharges.claimDue(1_000);
  await recurringCharges.rescheduleCheck(claimed.filter(({ _id }) => ids.has(_id)));
}

async function accepted(changes: Partial<RecurringCharge> = {}): Promise<RecurringCharge> {
  const tenantId = newId('tenant');
  const token = paymentToken({ tenant_id: tenantId });
  await database.db.collection<typeof token>('payment_tokens').insertOne(token);
  const recurring = recurringCharge({
    tenant_id: tenantId,
    payment_token_id: token._id,
    ...changes,
  });
  const { _id: id } = recurring;
  const answer = { status: 201, body: '{}' };
  const input = { kind: 'acceptRecurring', tenantId, id, recurring, claim: null, answer } as const;
  expect(await createGroupCommit(database).commit(acceptRecurringCharge, input)).toMatchObject({
    resource: id,
  });
  return recurring;
}

const stored = async ({ tenant_id: tenantId, _id }: RecurringCharge) =>
  (await recurringCharges.get(tenantId, _id)) as RecurringCharge;

/** As a renewal does it: until nothing is due any more. Answers the charges that it made. */
async function renew({ tenant_id: tenantId, _id }: RecurringCharge): Promise<Charge[]> {
  const made: Charge[] = [];
  for (;;) {
    const renewal = await recurringCharges.renew(tenantId, _id);
    if (renewal?.kind !== 'renewed') return made;
    made.push(renewal.charge);
  }
}

const change = async (recurring: RecurringCharge, wanted: Change) =>
  recurringCharges.change(await stored(recurring), {
    change: wanted,
    claim: null,
    answer: ({ status }) => ({ status: 200, body: status }),
  });

const paid: ChargeFact = {
  ...byProvider,
  attempt: null,
  kind: 'succeeded',
  amountMinor: 500_000n,
  currency: 'NGN',
  surchargeMinor: 0n,
  feeMinor: 10_000n,
  method: null,
};
const declined = (decline: 'soft' | 'hard'): ChargeFact => ({
  ...byProvider,
  attempt: null,
  kind: 'rejected',
  code: 'insufficient_funds',
  decline,
});

const chargesOf = ({ _id }: RecurringCharge) =>
  database.db
    .collection<Charge>('charges')
    .find({ 'recurring.id': _id })
    .sort({ _id: 1 })
    .toArray();

const periodsOf = (made: readonly Charge[]) => made.map(({ recurring }) => recurring?.period);

describe('a payment token that is deleted in the moment in which a recurring charge takes it', () => {
  /** Deletes a token, and takes it by the other commit before the deletion is there. */
  async function deletedMeanwhile<Result>(
    token: PaymentToken,
    take: () => Promise<Result>,
  ): Promise<Result> {
    const session = database.client.startSession();
    session.startTransaction();
    const tokens = database.db.collection<PaymentToken>('payment_tokens');
    const { _id, tenant_id } = token;
    const revoked = { $set: { status: 'revoked', authorization: null } } as const;
    await tokens.updateOne({ _id, tenant_id }, revoked, { session });
    const taken = take();
    await Promise.race([taken, sleep(300)]);
    await session.commitTransaction();
    await session.endSession();
    return taken;
  }

  const refused = { answer: { status: 422 } };

  test('is not taken by a new one', async () => {
    const tenantId = newId('tenant');
    const token = paymentToken({ tenant_id: tenantId });
    await database.db.collection<PaymentToken>('payment_tokens').insertOne(token);
    const recurring = recurringCharge({ tenant_id: tenantId, payment_token_id: token._id });
    const answer = { status: 201, body: '{}' };
    const input = { tenantId, id: recurring._id, recurring, claim: null, answer };
    const result = await deletedMeanwhile(token, () =>
      createGroupCommit(database).commit(acceptRecurringCharge, input),
    );
    expect(result).toMatchObject(refused);
  });

  test('is not taken by a change of terms', async () => {
    const recurring = await accepted();
    const { tenant_id: tenantId, _id: id } = recurring;
    const token = paymentToken({ tenant_id: tenantId });
    await database.db.collection<PaymentToken>('payment_tokens').insertOne(token);
    const input = {
      tenantId,
      id,
      terms: { payment_token_id: token._id },
      at: now,
      claim: null,
      answer: () => ({ status: 200, body: '{}' }),
    };
    const result = await deletedMeanwhile(token, () =>
      createGroupCommit(database).commit(updateRecurringCharge, input),
    );
    expect(result).toMatchObject(refused);
    expect((await stored(recurring)).payment_token_id).toBe(recurring.payment_token_id);
  });
});

describe('a recurring charge', () => {
  test('24 months on the 31st, with three days of outage and two declines: 24 charges, one for each period, the oldest first', async () => {
    const recurring = await accepted({ count: 24 });
    // Nothing is renewed on these days, the 31st among them.
    const outage = {
      from: new Date('2027-01-30T00:00:00Z'),
      until: new Date('2027-02-02T00:00:00Z'),
    };
    const declines = new Map([
      [5, 1],
      [11, 2],
    ]);
    const waiting = new Map<string, Charge>();
    const dates: string[] = [];
    const eventNames: string[] = [];

    for (let day = 0; day < 25 * 31; day += 1) {
      now = new Date(START.getTime() + day * DAY_MS);
      if (now >= outage.from && now < outage.until) continue;
      // Nothing begins in the middle of a month; looking at it every day would only take time.
      if (now.getUTCDate() > 3 && now.getUTCDate() < 27) continue;
      const made = await renew(recurring);
      dates.push(...made.map(() => now.toISOString().slice(0, 10)));
      for (const charge of [...waiting.values(), ...made]) {
        const period = charge.recurring?.period ?? -1;
        const left = declines.get(period) ?? 0;
        declines.set(period, left - 1);
        await charges.applyFact(charge, left > 0 ? declined('soft') : paid);
        if (left > 0) waiting.set(charge._id, charge);
        else waiting.delete(charge._id);
        eventNames.push((await stored(recurring)).status);
      }
    }

    const all = await chargesOf(recurring);
    expect(periodsOf(all)).toEqual(Array.from({ length: 24 }, (_, period) => period));
    expect(all.map(({ reference }) => reference)).toEqual(
      all.map((_, period) => `${recurring._id}-${period}`),
    );
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['completed']));
    expect(dates.slice(0, 3)).toEqual(['2026-01-31', '2026-02-28', '2026-03-31']);
    // The one that fell into the outage, and the one after it.
    expect(dates.slice(12, 14)).toEqual(['2027-02-02', '2027-02-28']);
    // Past due while one of the two was tried again, and only then.
    expect(eventNames.filter((status) => status === 'past_due')).toHaveLength(3);
    expect(await stored(recurring)).toMatchObject({
      status: 'ended',
      charged_periods: 24,
      next_charge_at: null,
      unpaid: [],
      last_paid_reference: `${recurring._id}-23`,
      // Renewed 24 times, past due twice, ended once.
      event_sequence: 27,
    });
    expect((await auditLedger(database, audits)).problems).toEqual([]);
    const wallets = database.db.collection<{ _id: string; available_minor: bigint }>('wallets');
    const wallet = await wallets.findOne({ _id: recurring.tenant_id });
    expect(wallet?.available_minor).toBe(24n * (500_000n - 10_000n));
  });

  test('days that were missed are charged once each, the oldest first, however many look at once', async () => {
    const recurring = await accepted({ interval: 'day' });
    now = new Date(START.getTime() + 3 * DAY_MS);
    // Processes of their own, each with the same work before it.
    const others = Array.from({ length: 4 }, () => storeOf(database));
    const { tenant_id: tenantId, _id } = recurring;
    await Promise.all(
      others.map(async (store) => {
        for (let look = await store.renew(tenantId, _id); look?.kind !== 'not_due';) {
          look = await store.renew(tenantId, _id);
        }
      }),
    );
    expect(periodsOf(await chargesOf(recurring))).toEqual([0, 1, 2, 3]);
    expect(await stored(recurring)).toMatchObject({ charged_periods: 4, next_period: 4 });
  });

  test('periods that begin while it is paused are never charged; periods missed before are', async () => {
    const recurring = await accepted({ interval: 'day' });
    await renew(recurring);
    now = new Date(START.getTime() + 1.5 * DAY_MS);
    // Day 1 was missed, and it is paused before anybody has looked.
    await change(recurring, 'pause');
    expect(await renew(recurring)).toEqual([]);
    now = new Date(START.getTime() + 4.5 * DAY_MS);
    expect(await renew(recurring)).toEqual([]);
    await change(recurring, 'resume');
    expect(periodsOf(await renew(recurring))).toEqual([1]);
    now = new Date(START.getTime() + 6 * DAY_MS);
    expect(periodsOf(await renew(recurring))).toEqual([5, 6]);
    expect(await stored(recurring)).toMatchObject({ status: 'active', pauses: [] });
  });

  test('one that runs out while it is paused has ended when it is resumed', async () => {
    const recurring = await accepted({ interval: 'day', count: 3 });
    for (const charge of await renew(recurring)) await charges.applyFact(charge, paid);
    await change(recurring, 'pause');
    now = new Date(START.getTime() + 10 * DAY_MS);
    await change(recurring, 'resume');
    expect(await renew(recurring)).toEqual([]);
    expect(await stored(recurring)).toMatchObject({
      status: 'ended',
      charged_periods: 1,
      next_charge_at: null,
    });
  });

  test('a charge that fails for good leaves it past due and going on, until a later period is paid', async () => {
    const recurring = await accepted({ interval: 'day' });
    const [first] = await renew(recurring);
    await charges.applyFact(first as Charge, declined('hard'));
    expect(await stored(recurring)).toMatchObject({ status: 'past_due', next_period: 1 });
    now = new Date(START.getTime() + DAY_MS);
    const [second] = await renew(recurring);
    expect(await stored(recurring)).toMatchObject({ status: 'past_due' });
    await charges.applyFact(second as Charge, paid);
    expect(await stored(recurring)).toMatchObject({ status: 'active', unpaid: [] });
    // A payment that is proven late emits an event and contradicts no earlier one.
    await charges.applyFact(first as Charge, paid);
    const { status, last_paid_reference: lastPaid } = await stored(recurring);
    expect([status, lastPaid]).toEqual(['active', `${recurring._id}-0`]);
  });

  test('a resumed recurring charge is active again, but not while a charge has an open attempt', async () => {
    const recurring = await accepted({ interval: 'day' });
    const [charge] = await renew(recurring);
    await charges.applyFact(charge as Charge, declined('soft'));
    await change(recurring, 'resume');
    expect(await stored(recurring)).toMatchObject({ status: 'past_due' });
    await charges.applyFact(charge as Charge, declined('hard'));
    await change(recurring, 'resume');
    expect(await stored(recurring)).toMatchObject({ status: 'active', unpaid: [] });
  });

  test('cancelled it charges no further period, and tries no declined charge again', async () => {
    const recurring = await accepted({ interval: 'day' });
    const [charge] = await renew(recurring);
    await charges.applyFact(charge as Charge, declined('soft'));
    await change(recurring, 'cancel');
    now = new Date(START.getTime() + 5 * DAY_MS);
    expect(await renew(recurring)).toEqual([]);
    expect(await chargesOf(recurring)).toMatchObject([
      { status: 'failed', failure: { code: 'recurring_cancelled' }, next_check_at: null },
    ]);
    expect(await stored(recurring)).toMatchObject({ status: 'cancelled', next_charge_at: null });
  });

  test('cancelled while charges are at the provider: charges that are declined later are not retried', async () => {
    const recurring = await accepted({ interval: 'day' });
    now = new Date(START.getTime() + DAY_MS);
    const [declinedBefore, first] = (await renew(recurring)) as [Charge, Charge];
    await charges.applyFact(declinedBefore, declined('soft'));
    // Its second attempt has left, the first one of the other has too.
    const sent = database.db.collection<Charge>('charges');
    await sent.updateMany({ 'recurring.id': recurring._id }, { $set: { submissions: 1 } });
    await change(recurring, 'cancel');
    for (const charge of [declinedBefore, first]) await charges.applyFact(charge, declined('soft'));
    const failed = {
      status: 'failed',
      failure: { code: 'insufficient_funds' },
      next_check_at: null,
    };
    expect(await chargesOf(recurring)).toMatchObject([failed, failed]);
  });

  test('cancelled by a caller with a state before the latest decline: that charge is not retried either', async () => {
    const recurring = await accepted({ interval: 'day' });
    const stale = await stored(recurring);
    const [charge] = await renew(recurring);
    await charges.applyFact(charge as Charge, declined('soft'));
    const answer = () => ({ status: 200, body: '' });
    await recurringCharges.change(stale, { change: 'cancel', claim: null, answer });
    expect(await chargesOf(recurring)).toMatchObject([
      { status: 'failed', failure: { code: 'recurring_cancelled' } },
    ]);
  });

  test('a decline during a pause emits its event at the resumption', async () => {
    const recurring = await accepted({ interval: 'day' });
    const [charge] = await renew(recurring);
    await change(recurring, 'pause');
    await charges.applyFact(charge as Charge, declined('soft'));
    expect(await stored(recurring)).toMatchObject({ status: 'paused' });
    await change(recurring, 'resume');
    // Its only event, as for every other recurring charge that is past due.
    expect(await stored(recurring)).toMatchObject({ status: 'past_due', event_sequence: 1 });
  });

  test('an ended recurring charge can not be changed; a repeated change has no effect', async () => {
    const recurring = await accepted();
    const answerTo = async (wanted: Change) => {
      const outcome = await change(recurring, wanted);
      return outcome.kind === 'answered' ? outcome.answer.status : outcome.kind;
    };
    expect([await answerTo('resume'), await answerTo('pause'), await answerTo('pause')]).toEqual([
      200, 200, 200,
    ]);
    const { version } = await stored(recurring);
    expect(version).toBe(2);
    expect([await answerTo('cancel'), await answerTo('cancel')]).toEqual([200, 200]);
    expect([await answerTo('resume'), await answerTo('pause')]).toEqual([422, 422]);
    expect((await stored(recurring)).version).toBe(3);
  });

  test('a reference that its tenant has used already does not stop a period from being charged', async () => {
    const recurring = await accepted({ interval: 'day' });
    const [taken] = await renew(await accepted({ interval: 'day' }));
    const { tenant_id: tenantId, _id } = recurring;
    await database.db
      .collection<Charge>('charges')
      .updateOne(
        { _id: taken?._id ?? '' },
        { $set: { tenant_id: tenantId, reference: `${_id}-0` } },
      );
    const [charge] = await renew(recurring);
    expect(charge).toMatchObject({ reference: charge?._id, recurring: { id: _id, period: 0 } });
  });

  test('recovery checks a recurring charge when a period is overdue, once a day otherwise, and never after its end', async () => {
    const daily = await accepted({ interval: 'day' });
    const [monthly, idle, over] = [await accepted(), await accepted(), await accepted()];
    for (const one of [daily, monthly]) await renew(one);
    await change(idle, 'pause');
    await change(over, 'cancel');
    now = new Date(START.getTime() + DAY_MS / 2);
    const all = [daily, monthly, idle, over];
    await recover(all);
    const dueAt = async (one: RecurringCharge) =>
      (await stored(one)).next_check_at?.toISOString() ?? null;
    expect(await Promise.all(all.map(dueAt))).toEqual([
      '2026-02-01T08:00:30.000Z',
      '2026-02-01T20:00:00.000Z',
      '2026-02-01T20:00:00.000Z',
      null,
    ]);
  });

  test('waits for a frozen tenant without calling an operator, and is charged after the freeze', async () => {
    const recurring = await accepted({ interval: 'day' });
    const { tenant_id: tenantId, _id } = recurring;
    frozen.add(tenantId);
    const attentionAfterStarts = async (starts: number) => {
      for (let i = 0; i < starts; i += 1) {
        now = new Date(now.getTime() + HOUR_MS);
        await recover([recurring]);
        await recurringCharges.clearStalled();
        await recurringCharges.raiseStalled(0);
      }
      return (await stored(recurring)).attention ?? null;
    };
    expect(await recurringCharges.renew(tenantId, _id)).toEqual({ kind: 'frozen' });
    expect(await attentionAfterStarts(5)).toBeNull();
    frozen.delete(tenantId);
    // A workflow that does nothing after the freeze is found, but not by the starts before its end.
    expect(await attentionAfterStarts(1)).toBeNull();
    expect(await attentionAfterStarts(3)).toMatchObject({ reason: STALLED });
    const listed = await recurringCharges.latest({ attention: true, tenant_id: tenantId }, 100);
    expect(listed.map((one) => one._id)).toEqual([_id]);
    frozen.add(tenantId);
    expect(await attentionAfterStarts(2)).toBeNull();
    frozen.delete(tenantId);
    expect(periodsOf(await renew(recurring))).toEqual([0]);
  });
});
