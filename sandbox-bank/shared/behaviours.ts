/** What the bank does with an order, chosen by its last three characters: every outcome can be had by hand. */
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
  /** Slow, and never reversed when asked. */
  | 'slow_for_good'
  | 'refused_first'
  /** For lack of funds, which another day may bring. */
  | 'declined_softly'
  | 'declined_softly_twice'
  | 'declined_as_expired'
  | 'another_amount'
  | 'lost_first';

/** The outcome is told by callback alone: look-ups say pending until a callback was taken. */
export function isReportedByCallbackOnly(behaviour: Behaviour): boolean {
  return behaviour === 'done_later' || behaviour === 'reported_out_of_order';
}

export function isExecutedAtOnce(behaviour: Behaviour): boolean {
  return behaviour !== 'pending' && !isReportedByCallbackOnly(behaviour);
}

const TIMES_TURNED_AWAY = new Map<Behaviour, number>([
  ['failing_first', 3],
  ['refused_first', 2],
  ['throttled_first', 1],
  ['lost_first', 1],
]);

/** How often an order is turned away, with nothing done, before one is taken. */
export function timesTurnedAway(behaviour: Behaviour): number {
  return TIMES_TURNED_AWAY.get(behaviour) ?? 0;
}

/** How long after acceptance a pending order is done by itself; null: not by itself. */
export function doneAfterMs(behaviour: Behaviour): number | null {
  if (behaviour === 'done_later') return 2_000;
  return behaviour === 'reported_out_of_order' ? 500 : null;
}

/** How long after payment the money comes back; null: it stays. */
export function reversedAfterMs(behaviour: Behaviour): number | null {
  return behaviour === 'reversed_later' ? 3_000 : null;
}

/** How long the answer of an order takes that was executed at once. */
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
