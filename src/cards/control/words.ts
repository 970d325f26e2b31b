import type { Words } from '../../pursuits/words.js';

export const controlWords: Words = {
  record: 'operation',
  provider: 'issuer',
  payment: 'change',
  pay: 'make the change',
  paid: 'made the change',
  meanwhile: 'With us the card is shut already',
  release: 'the card stays shut',
  late: null,
  adopt: 'nothing else changes',
};
