import type { Behaviour } from '../shared/behaviours.js';

/**
 * The test accounts by their last digits, with the bank's behaviour and the transfer's outcome; README and
 * guide print this table.
 */
export const TEST_ACCOUNTS: readonly {
  ending: string;
  behaviour: Behaviour;
  bank: string;
  transfer: string;
}[] = [
  {
    ending: '001',
    behaviour: 'done_later',
    bank: 'accepted, paid 2 s later, reported by callback only',
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
    transfer: 'verified as paid, completed; never submitted again',
  },
  {
    ending: '005',
    behaviour: 'lost',
    bank: 'never answers, pays nothing',
    transfer: 'verified, submitted again only if that is safe, then `attention`',
  },
  {
    ending: '006',
    behaviour: 'pending',
    bank: 'pending for ever',
    transfer: 'verified repeatedly, `attention` after 60 s',
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
    transfer: 'retried after the requested delay, completed',
  },
  {
    ending: '011',
    behaviour: 'enquiry_without_answer',
    bank: 'name enquiry hangs',
    transfer: 'accepted without a name, completed',
  },
  {
    ending: '012',
    behaviour: 'charged_for',
    bank: 'paid, and the bank charges ₦10 for it',
    transfer: 'completed; we pay the bank’s fee, which is booked',
  },
  {
    ending: '013',
    behaviour: 'uncovered_first',
    bank: 'our balance is too small three times, then paid',
    transfer: 'waits, no customer is refused; completed once the balance is there',
  },
  {
    ending: '014',
    behaviour: 'another_amount',
    bank: 'half of the amount is paid',
    transfer: '`attention`: an operator accepts the amount',
  },
  {
    ending: '015',
    behaviour: 'prepared_without_answer_first',
    bank: 'the recipient is prepared, the first answer never comes',
    transfer: 'prepared again, completed',
  },
  {
    ending: '016',
    behaviour: 'preparation_refused',
    bank: 'the recipient is refused: account closed',
    transfer: 'failed, the money is back',
  },
  {
    ending: '017',
    behaviour: 'forgotten',
    bank: 'pending, unknown for 10 s, then paid',
    transfer: 'verified until it is paid, completed',
  },
  {
    ending: '018',
    behaviour: 'awaits_operator',
    bank: 'must be confirmed at the bank, refused after 30 s',
    transfer: 'other first submissions wait for an operator; failed after 30 s',
  },
  {
    ending: '019',
    behaviour: 'unknown_status',
    bank: 'a status that nobody knows, until you decide it',
    transfer: 'verified repeatedly; the word calls an operator once',
  },
  {
    ending: '020',
    behaviour: 'refused_then_done',
    bank: 'refused, and paid 3 s later',
    transfer: 'failed, then the payment is in suspense, `attention`',
  },
  {
    ending: '021',
    behaviour: 'conflict_on_repeat',
    bank: 'paid without an answer; a repeat is a conflict',
    transfer: 'verified as paid, completed',
  },
  {
    ending: '022',
    behaviour: 'done_much_later',
    bank: 'no answer, unknown for 20 s, then paid unless it is cancelled',
    transfer: 'verified, completed; cancelled if the bank offers that',
  },
  {
    ending: '023',
    behaviour: 'reversed_without_event',
    bank: 'as 008, without a callback',
    transfer: 'completed; failed by the next reconciliation',
  },
  {
    ending: '024',
    behaviour: 'unreadable_event',
    bank: 'paid 1 s later, the callback can’t be read',
    transfer: 'completed by a poll; the event has `attention`',
  },
  {
    ending: '025',
    behaviour: 'event_elsewhere',
    bank: 'paid 1 s later, the callback is of another environment',
    transfer: 'completed by a poll; the event has `attention`',
  },
];

const BY_ENDING = new Map(TEST_ACCOUNTS.map(({ ending, behaviour }) => [ending, behaviour]));

/** Returns the behaviour of transfers and name enquiries for this account. */
export function behaviourOf(account: string): Behaviour {
  return BY_ENDING.get(account.slice(-3)) ?? 'done';
}
