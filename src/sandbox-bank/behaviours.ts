/** What the bank does with a transfer, chosen by the last three digits of the account: every outcome can be had by hand. */
export type Behaviour =
  | 'paid'
  | 'paid_later'
  | 'refused'
  | 'no_such_account'
  | 'paid_without_answer'
  | 'lost'
  | 'pending'
  | 'failing_first'
  | 'reversed_later'
  | 'told_out_of_order'
  | 'throttled_first'
  | 'enquiry_without_answer';

const BY_SUFFIX = new Map<string, Behaviour>([
  ['001', 'paid_later'],
  ['002', 'refused'],
  ['003', 'no_such_account'],
  ['004', 'paid_without_answer'],
  ['005', 'lost'],
  ['006', 'pending'],
  ['007', 'failing_first'],
  ['008', 'reversed_later'],
  ['009', 'told_out_of_order'],
  ['010', 'throttled_first'],
  ['011', 'enquiry_without_answer'],
]);

export function behaviourOf(account: string): Behaviour {
  return BY_SUFFIX.get(account.slice(-3)) ?? 'paid';
}

/** The outcome is told by callback alone: look-ups say pending until a callback was taken. */
export function isToldByCallbackOnly(behaviour: Behaviour): boolean {
  return behaviour === 'paid_later' || behaviour === 'told_out_of_order';
}

/** How often a submit is turned away, with nothing done, before one is taken. */
export function timesTurnedAway(behaviour: Behaviour): number {
  if (behaviour === 'failing_first') return 3;
  return behaviour === 'throttled_first' ? 1 : 0;
}

/** How long after acceptance a pending transfer is paid by itself; null: not by itself. */
export function paidAfterMs(behaviour: Behaviour): number | null {
  if (behaviour === 'paid_later') return 2_000;
  return behaviour === 'told_out_of_order' ? 500 : null;
}

/** How long after payment the money comes back; null: it stays. */
export function reversedAfterMs(behaviour: Behaviour): number | null {
  return behaviour === 'reversed_later' ? 3_000 : null;
}
