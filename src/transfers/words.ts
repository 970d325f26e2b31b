import type { Words } from '../pursuits/words.js';

export const transferWords: Words = {
  record: 'transfer',
  provider: 'bank',
  payment: 'payment',
  pay: 'pay',
  paid: 'paid',
};
