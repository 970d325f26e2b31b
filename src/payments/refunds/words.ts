import type { Words } from '../../pursuits/words.js';

export const refundWords: Words = {
  record: 'refund',
  provider: 'provider',
  payment: 'refund',
  pay: 'refund',
  paid: 'refunded',
  meanwhile: 'The money is held',
  release: 'the hold is released',
  late: 'a refund goes to suspense',
  adopt: 'one in suspense is then paid by the wallet',
};
