import type { InstructionLabels } from '../../core/instructions/labels.js';

export const cardStateLabels: InstructionLabels = {
  record: 'operation',
  provider: 'issuer',
  payment: 'change',
  pay: 'make the change',
  paid: 'made the change',
  meanwhile: 'With us the card is shut already',
  release: 'the card stays shut',
  late: null,
  suspenseDebit: 'nothing else changes',
};
