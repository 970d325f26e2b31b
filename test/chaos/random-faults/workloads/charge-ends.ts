/**
 * Ends of references of charges on a page, by weight; see docs/guide/test-values.md. Left out are 004 and 005, because nobody ever
 * gets the address of such a page.
 */
export const PAGES = [
  [20, '789'],
  [5, '001'],
  [5, '007'],
  [5, '009'],
  [5, '010'],
  [1.5, '006'],
  [2.5, '014'],
  [2, '015'],
  [1.5, '016'],
  [1.5, '017'],
  [1.5, '018'],
  [1.5, '019'],
  [2, '020'],
  [1, '021'],
  [1, '022'],
  [1.5, '023'],
  [1.5, '024'],
] as const;

/** The ends of the first pages, which are paid: a plain payment, a refund from the acquirer's desk, and a dispute that is lost. */
export const FIRST_PAGES = ['789', '019', '022'] as const;

/** Ends of charges without the customer. Left out is 005, because a request that is always lost needs an operator. */
export const CHARGES = [
  [20, '789'],
  [4, '001'],
  [4, '002'],
  [4, '013'],
  [4, '003'],
  [2, '004'],
  [2, '007'],
  [2, '009'],
  [2, '010'],
  [1.5, '006'],
  [2, '014'],
  [1.5, '017'],
  [1.5, '024'],
  [1.5, '025'],
  [2, '026'],
  [1, '029'],
] as const;

/** Payment methods that customers choose. Null: the customer leaves. */
export const CHOICES = [
  [50, 'good'],
  [8, 'later_low_funds_twice'],
  [3, 'later_low_funds'],
  [4, 'later_declined'],
  [3, 'later_expired'],
  [3, 'later_confirmed'],
  [6, 'once'],
  [8, 'low_funds'],
  [4, 'stolen'],
  [8, null],
] as const;

/** Methods with which customers confirm a charge without the customer. A soft decline would ask them again. */
export const CONFIRMATIONS = [
  [6, 'good'],
  [1, 'stolen'],
  [3, null],
] as const;

/** Payment methods that bind a reusable token, and those that are declined. */
export const REUSABLE: ReadonlySet<string | null> = new Set([
  'good',
  'later_low_funds_twice',
  'later_low_funds',
  'later_declined',
  'later_expired',
  'later_confirmed',
]);
export const DECLINED: ReadonlySet<string | null> = new Set(['low_funds', 'stolen']);

/** Ends whose charges wait for somebody, or differ from a plain payment; and a plain one. */
export const END = {
  plain: '789',
  pending: '006',
  halfPaid: '014',
  declinedFirst: '016',
  surcharged: '018',
  disputed: '020',
  unknownWord: '023',
  unconfirmed: '026',
} as const;

/** The end of a reference. */
export const endOf = (reference: string): string => reference.slice(-3);
