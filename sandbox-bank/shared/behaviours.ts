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

/** The accounts to test with, by their last digits: what the bank does, and what becomes of a transfer. */
export const TEST_ACCOUNTS: readonly {
  ending: string;
  behaviour: Behaviour;
  bank: string;
  transfer: string;
}[] = [
  {
    ending: '001',
    behaviour: 'done_later',
    bank: 'accepted, paid 2 s later, told by callback only',
    transfer: 'completed by the callback',
  },
  {
    ending: '002',
    behaviour: 'refused',
    bank: 'refused: account closed',
    transfer: 'failed, the money is back',
  },
  {
    ending: '003',
    behaviour: 'no_such_account',
    bank: 'name enquiry: no such account',
    transfer: 'refused with `invalid_account`, nothing was held',
  },
  {
    ending: '004',
    behaviour: 'done_without_answer',
    bank: 'paid, but the answer never comes',
    transfer: 'asks, finds it paid, completes; never sends again',
  },
  {
    ending: '005',
    behaviour: 'lost',
    bank: 'never answers, pays nothing',
    transfer: 'asks, sends again only as far as that is safe, then calls an operator',
  },
  {
    ending: '006',
    behaviour: 'pending',
    bank: 'pending for ever',
    transfer: 'asks on and on, calls an operator after 60 s',
  },
  {
    ending: '007',
    behaviour: 'failing_first',
    bank: 'three errors, then paid',
    transfer: 'completed, once',
  },
  {
    ending: '008',
    behaviour: 'reversed_later',
    bank: 'paid, reversed 3 s later',
    transfer: 'failed, amount and fee are back, `reversed_at` is set',
  },
  {
    ending: '009',
    behaviour: 'reported_out_of_order',
    bank: 'three callbacks, out of order',
    transfer: 'completed, once',
  },
  {
    ending: '010',
    behaviour: 'throttled_first',
    bank: '429 first',
    transfer: 'waits as told, completed',
  },
  {
    ending: '011',
    behaviour: 'enquiry_without_answer',
    bank: 'name enquiry hangs',
    transfer: 'accepted without a name, completed',
  },
];

const BY_ENDING = new Map(TEST_ACCOUNTS.map(({ ending, behaviour }) => [ending, behaviour]));

/** Of a transfer; those of cards are in `card-behaviours.ts`, those of charges in `network/behaviours.ts`. */
export function behaviourOf(account: string): Behaviour {
  return BY_ENDING.get(account.slice(-3)) ?? 'done';
}

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
