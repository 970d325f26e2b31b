import type { Behaviour } from '../shared/behaviours.js';

/**
 * The test customers by the last characters of their reference, with the biller's behaviour and the outcome of the bill
 * payment; the guide prints this table.
 */
export const TEST_CUSTOMERS: readonly {
  ending: string;
  behaviour: Behaviour;
  biller: string;
  payment: string;
}[] = [
  {
    ending: '001',
    behaviour: 'done_later',
    biller: 'accepted, paid 2 s later, reported by callback only',
    payment: 'completed by the callback',
  },
  {
    ending: '002',
    behaviour: 'refused',
    biller: 'refused: the biller declines',
    payment: 'failed, the money is back',
  },
  {
    ending: '003',
    behaviour: 'no_such_account',
    biller: 'validation: no such customer',
    payment: 'refused with `invalid_account`, nothing was held',
  },
  {
    ending: '004',
    behaviour: 'done_without_answer',
    biller: 'paid, but the answer never comes',
    payment: 'verified as paid, completed; never submitted again',
  },
  {
    ending: '005',
    behaviour: 'lost',
    biller: 'never answers, pays nothing',
    payment: 'verified, submitted again only if that is safe, then `attention`',
  },
  {
    ending: '006',
    behaviour: 'pending',
    biller: 'pending for ever',
    payment: 'verified repeatedly, `attention` after 60 s',
  },
  {
    ending: '007',
    behaviour: 'failing_first',
    biller: 'three errors, then paid',
    payment: 'completed, once',
  },
  {
    ending: '008',
    behaviour: 'reversed_later',
    biller: 'paid, reversed 3 s later',
    payment: 'failed, amount and fee are back, `reversed_at` is set',
  },
  {
    ending: '009',
    behaviour: 'reported_out_of_order',
    biller: 'three callbacks, out of order',
    payment: 'completed, once',
  },
  {
    ending: '010',
    behaviour: 'throttled_first',
    biller: '429 first',
    payment: 'retried after the requested delay, completed',
  },
  {
    ending: '011',
    behaviour: 'enquiry_without_answer',
    biller: 'validation hangs',
    payment: 'accepted without a name, completed',
  },
];

const BY_ENDING = new Map(TEST_CUSTOMERS.map(({ ending, behaviour }) => [ending, behaviour]));

/** Returns the biller's behaviour for this customer. */
export function behaviourOf(customerReference: string): Behaviour {
  return BY_ENDING.get(customerReference.slice(-3)) ?? 'done';
}
