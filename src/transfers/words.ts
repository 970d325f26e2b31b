import type { Words } from '../pursuits/words.js';

export const transferWords: Words = {
  record: 'transfer',
  provider: 'bank',
  payment: 'payment',
  pay: 'pay',
  paid: 'paid',
  meanwhile: 'The money is held',
  release: 'the hold is released',
  late: 'a payment goes to suspense',
  adopt: 'one in suspense is then paid by the wallet',
};
