import { START_WITHIN_MS } from '../../core/instructions/instruction.js';
import { NEVER_AGAIN, TOKEN_REVOKED, type Charge } from '../charges/record.js';
import { firstPeriodAt, nextPeriod, isOver, type RecurringCharge, type Unpaid } from './record.js';

/** The event of a change. */
type StepEvent = 'renewed' | 'past_due' | 'ended';
/** The next record with the events of the change. */
export type Step = { next: RecurringCharge; events: StepEvent[] };
/** A change by a request. */
export type Change = 'pause' | 'resume' | 'cancel';

/** After a change, recovery checks at once that the Schedule and the workflow agree with the record. */
export const nextCheckAfterChange = (now: Date): Date => new Date(now.getTime() + START_WITHIN_MS);

/** Records the charge of a period as created, so that the next period follows. */
export function markCharged(
  recurring: RecurringCharge,
  charge: Pick<Charge, '_id' | 'reference'>,
  now: Date,
): Step {
  const { next_period: period, unpaid } = recurring;
  const open: Unpaid = {
    charge_id: charge._id,
    reference: charge.reference,
    period,
    status: 'open',
  };
  return step(
    recurring,
    {
      ...recurring,
      ...following(recurring, period + 1),
      charged_periods: recurring.charged_periods + 1,
      unpaid: [...unpaid, open],
    },
    now,
  );
}

/**
 * Applies the change of a charge to its recurring charge. A decline or a failure makes it `past_due`. Later periods are
 * still charged. It returns to `active` when no charge is being retried and a period after the failed one is paid. If its token can
 * never be charged again, it stays `past_due` until it gets another one.
 */
export function afterChargeChange(
  recurring: RecurringCharge,
  charge: EndedCharge,
  now: Date,
): Step {
  const period = charge.recurring?.period ?? 0;
  const outcome = statusOfCharge(charge);
  const others = recurring.unpaid.filter((one) => one.charge_id !== charge._id);
  if (outcome !== 'paid') {
    const { _id: id, reference } = charge;
    const known = outcome === 'failed' ? others.filter(isNotFailedBefore(period)) : others;
    const unpaid = [...known, { charge_id: id, reference, period, status: outcome }];
    const token_revoked = recurring.token_revoked || hasLostToken(recurring, charge);
    const after = { ...recurring, token_revoked, unpaid: unpaid.toSorted(byPeriod) };
    return step(recurring, outcome === 'failed' ? countFailed(after) : after, now);
  }
  const unpaid = others.filter(isNotFailedBefore(period));
  const paid = { unpaid, last_paid_reference: charge.reference, failed_periods: 0 };
  return step(recurring, { ...recurring, ...paid }, now, ['renewed']);
}

type EndedCharge = Pick<
  Charge,
  | '_id'
  | 'reference'
  | 'status'
  | 'first_declined_at'
  | 'recurring'
  | 'failure'
  | 'payment_token_id'
>;

/** True if the charge has failed because the token of the recurring charge can never be charged again. */
function hasLostToken(
  { payment_token_id: token }: RecurringCharge,
  { failure, payment_token_id: charged }: EndedCharge,
): boolean {
  const code = failure?.code ?? '';
  return charged === token && (code === TOKEN_REVOKED || NEVER_AGAIN.has(code));
}

/** Counts a failed period. After as many as are allowed in a row no further period is charged. */
function countFailed(recurring: RecurringCharge): RecurringCharge {
  const { max_failed_periods: most = null, failed_periods: before = 0 } = recurring;
  const failed = { ...recurring, failed_periods: before + 1 };
  return most !== null && before + 1 >= most
    ? { ...failed, next_charge_at: null, pauses: [] }
    : failed;
}

/** Pauses: periods that begin before it is resumed are skipped. Open charges continue. */
export const pause = (recurring: RecurringCharge, now: Date): Step =>
  step(recurring, { ...recurring, status: 'paused', paused_at: now }, now);

/** Resumes with the next period. The tenant has decided, so failed charges no longer make it past due. */
export function resume(recurring: RecurringCharge, now: Date): Step {
  const { paused_at: from, next_period: period } = recurring;
  const awake: RecurringCharge = {
    ...recurring,
    status: recurring.status === 'paused' ? 'active' : recurring.status,
    unpaid: recurring.unpaid.filter((one) => one.status !== 'failed'),
    failed_periods: 0,
    paused_at: null,
    pauses: from === null ? recurring.pauses : [...recurring.pauses, { from, until: now }],
  };
  return step(recurring, { ...awake, ...following(awake, period) }, now);
}

/** A change by the tenant. A field that is left out stays as it is. */
export type Terms = {
  payment_token_id?: string;
  amount_minor?: bigint;
  /** Both are null if no end is left. */
  end?: Pick<RecurringCharge, 'end_at' | 'count'>;
  max_failed_periods?: number | null;
};

/**
 * Changes token, amount or end from the next period on. Charges that exist keep theirs. After the last period, a later end
 * continues with the period that begins next: those that have begun meanwhile are not charged.
 */
export function changeTerms(recurring: RecurringCharge, terms: Terms, now: Date): Step {
  const { payment_token_id: token, amount_minor: amountMinor, end } = terms;
  const { max_failed_periods: most } = terms;
  const changed: RecurringCharge = {
    ...recurring,
    ...(token !== undefined && { payment_token_id: token, token_revoked: false }),
    ...(amountMinor !== undefined && { amount_minor: amountMinor }),
    ...(most !== undefined && { max_failed_periods: most }),
    ...end,
  };
  const { next_period: from, next_charge_at: nextAt } = recurring;
  const first = nextAt === null ? firstPeriodAt(changed, now, from) : from;
  const period = end ? following(changed, first) : {};
  const { next, events } = step(recurring, { ...changed, ...period }, now);
  // The Schedule names the amount and the end.
  return { next: { ...next, next_check_at: nextCheckAfterChange(now) }, events };
}

/** Marks that the payment token was deleted: later periods are still charged, and each charge fails. */
export const loseToken = (recurring: RecurringCharge, now: Date): Step =>
  step(recurring, { ...recurring, token_revoked: true }, now);

/** Cancels: no further period is charged. Open charges continue. */
export const cancel = (recurring: RecurringCharge, now: Date): Step =>
  step(recurring, { ...recurring, status: 'cancelled', next_charge_at: null }, now);

/** Returns the next period to charge, not before `from`, and the pauses that can still skip a period. */
function following(
  recurring: RecurringCharge,
  from: number,
): Pick<RecurringCharge, 'next_period' | 'next_charge_at' | 'pauses'> {
  const next = nextPeriod(recurring, from);
  if (!next) return { next_period: from, next_charge_at: null, pauses: [] };
  const pauses = recurring.pauses.filter(({ until }) => until > next.at);
  return { next_period: next.period, next_charge_at: next.at, pauses };
}

/** Completes a change: derives the status, and sets version, times and events. */
function step(
  before: RecurringCharge,
  after: RecurringCharge,
  now: Date,
  events: StepEvent[] = [],
): Step {
  const status = statusOf(after);
  const over = isOver({ status }) && !isOver(before);
  const moved =
    status !== before.status ||
    after.next_charge_at?.getTime() !== before.next_charge_at?.getTime();
  if (status === 'past_due' && before.status !== status) events.push('past_due');
  if (over) events.push('ended');
  return {
    next: {
      ...after,
      status,
      version: before.version + 1,
      updated_at: now,
      ...(moved && { next_check_at: nextCheckAfterChange(now) }),
      ...(over && { ended_at: now, paused_at: null }),
    },
    events,
  };
}

function statusOf({
  status,
  next_charge_at: nextAt,
  unpaid,
  token_revoked: tokenRevoked,
}: RecurringCharge): RecurringCharge['status'] {
  if (isOver({ status })) return status;
  if (nextAt === null && unpaid.every(({ status: outcome }) => outcome === 'failed'))
    return 'ended';
  if (status === 'paused') return status;
  if (tokenRevoked) return 'past_due';
  return unpaid.every(({ status: outcome }) => outcome === 'open') ? 'active' : 'past_due';
}

type ChargeOutcome = Unpaid['status'] | 'paid';

/** The outcome of a charge for its recurring charge. `declined`: a further attempt is planned. */
export function statusOfCharge({
  status,
  first_declined_at: declinedAt,
}: Pick<Charge, 'status' | 'first_declined_at'>): ChargeOutcome {
  if (status === 'completed') return 'paid';
  if (status === 'failed') return 'failed';
  return declinedAt === null ? 'open' : 'declined';
}

const isNotFailedBefore =
  (period: number) =>
  (one: Unpaid): boolean =>
    one.status !== 'failed' || one.period > period;

const byPeriod = (a: Unpaid, b: Unpaid) => a.period - b.period;
