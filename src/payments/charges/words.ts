import type { Words } from '../../pursuits/words.js';

export const chargeWords: Words = {
  record: 'charge',
  provider: 'provider',
  payment: 'payment',
  pay: 'collect it',
  paid: 'was paid',
  meanwhile: 'Nothing is credited yet',
  release: 'the charge is given up',
  late: 'a payment is credited, whenever it is proven',
  adopt: 'what contradicts it is then settled',
};
