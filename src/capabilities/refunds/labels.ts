import type { InstructionLabels } from '../../core/instructions/labels.js';

export const refundWords: InstructionLabels = {
  record: 'refund',
  provider: 'provider',
  payment: 'refund',
  pay: 'refund',
  paid: 'refunded',
  meanwhile: 'The money is held',
  release: 'the hold is released',
  late: 'a refund goes to suspense',
  suspenseDebit: 'one in suspense is then paid by the wallet',
};
