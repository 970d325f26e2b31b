import type { Words } from '../../pursuits/words.js';

export const controlWords: Words = {
  record: 'operation',
  provider: 'issuer',
  payment: 'change',
  pay: 'make the change',
  paid: 'made the change',
  meanwhile: 'Here the card is shut already',
  release: 'the card stays shut here',
  late: 'a change that shows up opens nothing here',
  adopt: 'nothing else changes',
};
