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
  /** The answer of the first page never comes. If a page is paid, the customer pays the others too, 3 s later. */
  | 'paid_twice'
  /** Paid; the fee becomes known 3 s later. */
  | 'fee_later'
  /** Paid, and the bank charges a fee for it. */
  | 'charged_for'
  /** The client's balance is too small three times. */
  | 'uncovered_first'
  | 'prepared_without_answer_first'
  | 'preparation_refused'
  /** Pending for 2 s, unknown for 10 s, then paid. */
  | 'forgotten'
  /** The client must confirm it at the bank; after 30 s it is refused. */
  | 'awaits_operator'
  /** Reported with a word that no client knows. */
  | 'unknown_status'
  /** Refused, and paid 3 s later. */
  | 'refused_then_done'
  /** Done without an answer, and a repeat is a conflict. */
  | 'conflict_on_repeat'
  /** Not answered and unknown for 20 s, then done, unless it is cancelled. */
  | 'done_much_later'
  | 'reversed_without_event'
  | 'unreadable_event'
  | 'event_elsewhere'
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
  /** Issued, and locked by the issuer 3 s later. */
  | 'locked_later'
  /** Issued, and not usable before it is activated. */
  | 'needs_activation'
  /** Done, and undone by the issuer 3 s later. */
  | 'undone_later'
  | 'lost_first'
  /** A dispute of a card payment is accepted, and credited 2 s later; after another 2 s it is won, or lost. */
  | 'credited_then_won'
  | 'credited_then_lost'
  /** The dispute is accepted, and cannot be withdrawn. */
  | 'not_withdrawable';

/** True if the outcome is reported by callback only: look-ups answer `pending` until a callback was accepted. */
function isReportedByCallbackOnly(behaviour: Behaviour): boolean {
  return behaviour === 'done_later' || behaviour === 'reported_out_of_order';
}

const NOT_AT_ONCE: ReadonlySet<Behaviour> = new Set([
  'pending',
  'needs_account',
  'done_unreported',
  'listed_later',
  'awaits_operator',
  'unknown_status',
]);

/** True if the bank executes the request before it answers. */
export function isExecutedAtOnce(behaviour: Behaviour): boolean {
  return doneAfterMs(behaviour) === null && !NOT_AT_ONCE.has(behaviour);
}

const TIMES_TURNED_AWAY = new Map<Behaviour, number>([
  ['failing_first', 3],
  ['refused_first', 2],
  ['throttled_first', 1],
  ['lost_first', 1],
  ['uncovered_first', 3],
  ['prepared_without_answer_first', 1],
  ['executed_late', 1],
]);

/** Returns how many requests are rejected without being executed before one is accepted. */
export function timesTurnedAway(behaviour: Behaviour): number {
  return TIMES_TURNED_AWAY.get(behaviour) ?? 0;
}

const DONE_AFTER_MS = new Map<Behaviour, number>([
  ['done_later', 2_000],
  ['done_unreported', 2_000],
  ['listed_later', 500],
  ['reported_out_of_order', 500],
  ['forgotten', 12_000],
  ['done_much_later', 20_000],
  ['unreadable_event', 1_000],
  ['event_elsewhere', 1_000],
]);

/** Returns the delay from acceptance to the outcome of a pending request; null if none comes by itself. */
export function doneAfterMs(behaviour: Behaviour): number | null {
  return DONE_AFTER_MS.get(behaviour) ?? null;
}

/** Returns the delay from payment to reversal; null if it is not reversed. */
export function reversedAfterMs(behaviour: Behaviour): number | null {
  return behaviour === 'reversed_later' || behaviour === 'reversed_without_event' ? 3_000 : null;
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
