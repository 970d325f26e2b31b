import type { Behaviour } from '../shared/behaviours.js';

/**
 * The test accounts by their last digits, with the bank's behaviour and the transfer's outcome; docs print this
 * table.
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
];

const BY_ENDING = new Map(TEST_ACCOUNTS.map(({ ending, behaviour }) => [ending, behaviour]));

/** Returns the behaviour of transfers and name enquiries for this account. */
export function behaviourOf(account: string): Behaviour {
  return BY_ENDING.get(account.slice(-3)) ?? 'done';
}
