/**
 * The bank's reaction to a request. The request's last three characters select it, so tests can produce every
 * outcome.
 */
export type Behaviour =
  | 'done'
  | 'done_later'
  | 'refused'
  | 'no_such_account'
  | 'done_without_answer'
  | 'lost'
  | 'pending'
  | 'failing_first'
  | 'reversed_later'
  | 'reported_out_of_order'
  | 'throttled_first'
  | 'enquiry_without_answer'
  | 'slow'
  /** Slow, and its reversal is always refused. */
  | 'slow_for_good'
  | 'refused_first'
  /** Insufficient funds: a later attempt may succeed. */
  | 'declined_softly'
  | 'declined_softly_twice'
  | 'declined_as_expired'
  | 'another_amount'
  /** A declined payment method leaves the page open for another one. */
  | 'declined_first'
  /** Paid; the fee becomes known 3 s later. */
  | 'fee_later'
  /** The first request is not answered, and executed so late that a look-up does not find it before. */
  | 'executed_late'
  /** The customer pays the acquirer's fee on top. */
  | 'surcharged'
  /** Paid, and refunded at the acquirer's desk 3 s later. */
  | 'refunded_at_desk'
  /** Paid, and disputed 3 s later: the amount is taken, or the dispute is decided after another 3 s. */
  | 'disputed'
  | 'dispute_won'
  | 'dispute_lost'
  /** Paid, under a word that clients do not know until the acquirer is told to say what it means. */
  | 'unknown_word'
  /** The customer has to confirm the charge on a page: does so after 2 s, or never. */
  | 'redirected'
  | 'redirected_in_vain'
  /** The payment method is revoked, and the charge declined. */
  | 'method_revoked'
  /** Refunded, and the money comes back 3 s later. */
  | 'returned_later'
  | 'needs_account'
  /** Done 2 s later, and reported to nobody. */
  | 'done_unreported'
  /** Accepted, and absent from the list for 10 s. */
  | 'listed_later'
  | 'lost_first';

/** True if the outcome is reported by callback only: look-ups answer `pending` until a callback was accepted. */
function isReportedByCallbackOnly(behaviour: Behaviour): boolean {
  return behaviour === 'done_later' || behaviour === 'reported_out_of_order';
}

const NOT_AT_ONCE: ReadonlySet<Behaviour> = new Set([
  'pending',
  'needs_account',
  'done_unreported',
  'listed_later',
]);

/** True if the bank executes the request before it answers. */
export function isExecutedAtOnce(behaviour: Behaviour): boolean {
  return !NOT_AT_ONCE.has(behaviour) && !isReportedByCallbackOnly(behaviour);
}

const TIMES_TURNED_AWAY = new Map<Behaviour, number>([
  ['failing_first', 3],
  ['refused_first', 2],
  ['throttled_first', 1],
  ['lost_first', 1],
  ['executed_late', 1],
]);

/** Returns how many requests are rejected without being executed before one is accepted. */
export function timesTurnedAway(behaviour: Behaviour): number {
  return TIMES_TURNED_AWAY.get(behaviour) ?? 0;
}

/** Returns the delay from acceptance to the outcome of a pending request; null if none comes by itself. */
export function doneAfterMs(behaviour: Behaviour): number | null {
  if (behaviour === 'done_later' || behaviour === 'done_unreported') return 2_000;
  if (behaviour === 'listed_later') return 500;
  return behaviour === 'reported_out_of_order' ? 500 : null;
}

/** Returns the delay from payment to reversal; null if it is not reversed. */
export function reversedAfterMs(behaviour: Behaviour): number | null {
  return behaviour === 'reversed_later' ? 3_000 : null;
}

/** Returns the delay of the answer to a request that was executed at once. */
export function answeredAfterMs(behaviour: Behaviour): number {
  return behaviour === 'slow' || behaviour === 'slow_for_good' ? 4_000 : 0;
}

/** True while look-ups must still answer `pending`: the outcome is reported by callback only, and none was accepted yet. */
export function isOutcomeWithheld(
  record: { behaviour: Behaviour; isNotified: boolean },
  sendsCallbacks: boolean,
): boolean {
  return sendsCallbacks && isReportedByCallbackOnly(record.behaviour) && !record.isNotified;
}
