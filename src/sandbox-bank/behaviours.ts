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
  | 'told_out_of_order'
  | 'throttled_first'
  | 'enquiry_without_answer'
  | 'slow'
  /** Slow, and never reversed when asked. */
  | 'slow_for_good'
  | 'refused_first'
  | 'lost_first';

const BY_SUFFIX = new Map<string, Behaviour>([
  ['001', 'done_later'],
  ['002', 'refused'],
  ['003', 'no_such_account'],
  ['004', 'done_without_answer'],
  ['005', 'lost'],
  ['006', 'pending'],
  ['007', 'failing_first'],
  ['008', 'reversed_later'],
  ['009', 'told_out_of_order'],
  ['010', 'throttled_first'],
  ['011', 'enquiry_without_answer'],
]);

/** Of a transfer; those of cards are in `card-behaviours.ts`. */
export function behaviourOf(account: string): Behaviour {
  return BY_SUFFIX.get(account.slice(-3)) ?? 'done';
}

/** The outcome is told by callback alone: look-ups say pending until a callback was taken. */
export function isToldByCallbackOnly(behaviour: Behaviour): boolean {
  return behaviour === 'done_later' || behaviour === 'told_out_of_order';
}

export function isDoneAtOnce(behaviour: Behaviour): boolean {
  return behaviour !== 'pending' && !isToldByCallbackOnly(behaviour);
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
  return behaviour === 'told_out_of_order' ? 500 : null;
}

/** How long after payment the money comes back; null: it stays. */
export function reversedAfterMs(behaviour: Behaviour): number | null {
  return behaviour === 'reversed_later' ? 3_000 : null;
}

/** How long the answer of an order takes that was executed at once. */
export function answeredAfterMs(behaviour: Behaviour): number {
  return behaviour === 'slow' || behaviour === 'slow_for_good' ? 4_000 : 0;
}
