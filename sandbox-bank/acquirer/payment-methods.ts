import type { Behaviour } from '../shared/behaviours.js';
import type { Channel, Decline } from './records.js';

/** A payment method that a customer can choose. No card number exists behind it. */
export type PaymentMethod = {
  id: string;
  title: string;
  hint: string;
  /** The decline that this method causes; null if it pays. */
  declines: Decline | null;
  /** The behaviour of later charges without the customer. */
  later: Behaviour;
  reusable: boolean;
  brand: string | null;
  last4: string | null;
};

const LOW_FUNDS: Decline = { code: 'insufficient_funds', decline: 'soft' };
const STOLEN: Decline = { code: 'stolen_card', decline: 'hard' };

const pays = { declines: null, later: 'done', reusable: true } as const;
const noCard = { brand: null, last4: null };

const CARDS: readonly PaymentMethod[] = [
  {
    ...pays,
    id: 'good',
    title: 'Verve, ends in 4081',
    hint: 'Pays, now and later.',
    brand: 'verve',
    last4: '4081',
  },
  {
    ...pays,
    id: 'later_low_funds',
    title: 'Mastercard, ends in 0003',
    hint: 'Pays now. Later charges are always declined: insufficient funds.',
    later: 'declined_softly',
    brand: 'mastercard',
    last4: '0003',
  },
  {
    ...pays,
    id: 'later_low_funds_twice',
    title: 'Mastercard, ends in 0013',
    hint: 'Pays now. Each later charge is declined twice for insufficient funds, then paid.',
    later: 'declined_softly_twice',
    brand: 'mastercard',
    last4: '0013',
  },
  {
    ...pays,
    id: 'later_declined',
    title: 'Visa, ends in 0002',
    hint: 'Pays now. Later charges are declined for good.',
    later: 'refused',
    brand: 'visa',
    last4: '0002',
  },
  {
    ...pays,
    id: 'later_expired',
    title: 'Visa, ends in 0054',
    hint: 'Pays now. Later charges are declined for good: expired card.',
    later: 'declined_as_expired',
    brand: 'visa',
    last4: '0054',
  },
  {
    ...pays,
    id: 'later_confirmed',
    title: 'Visa, ends in 3184',
    hint: 'Pays now. Each later charge waits until its customer confirms it on a page.',
    later: 'redirected_in_vain',
    brand: 'visa',
    last4: '3184',
  },
  {
    ...pays,
    id: 'once',
    title: 'Verve, ends in 0100',
    hint: 'Pays now, and can not be charged again.',
    reusable: false,
    brand: 'verve',
    last4: '0100',
  },
  {
    ...pays,
    id: 'low_funds',
    title: 'Mastercard, ends in 0051',
    hint: 'Is declined now: insufficient funds.',
    declines: LOW_FUNDS,
    brand: 'mastercard',
    last4: '0051',
  },
  {
    ...pays,
    id: 'stolen',
    title: 'Visa, ends in 0043',
    hint: 'Is declined now, for good: stolen card.',
    declines: STOLEN,
    brand: 'visa',
    last4: '0043',
  },
];

/** Methods of the one account that the client has named. */
const BANK_ACCOUNT: readonly PaymentMethod[] = [
  { ...pays, ...noCard, id: 'good', title: 'Agree', hint: 'Pays, now and later.' },
  {
    ...pays,
    ...noCard,
    id: 'later_low_funds',
    title: 'Agree, with little on the account',
    hint: 'Pays now. Later charges are always declined: insufficient funds.',
    later: 'declined_softly',
  },
  {
    ...pays,
    ...noCard,
    id: 'later_declined',
    title: 'Agree, and end the mandate at the bank',
    hint: 'Pays now. Later charges are declined for good.',
    later: 'refused',
  },
  {
    ...pays,
    ...noCard,
    id: 'low_funds',
    title: 'Agree, with nothing on the account',
    hint: 'Is declined now: insufficient funds.',
    declines: LOW_FUNDS,
  },
];

/** The payment methods of a channel, in the order of the page. */
export function paymentMethodsOf({ type }: Channel): readonly PaymentMethod[] {
  return type === 'card' ? CARDS : BANK_ACCOUNT;
}

/** Finds a payment method of the channel by its id. */
export function paymentMethodOf(channel: Channel, id: string): PaymentMethod | undefined {
  return paymentMethodsOf(channel).find((choice) => choice.id === id);
}
