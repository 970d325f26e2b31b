import type { InstructionLabels } from '../../core/instructions/labels.js';

export const transferLabels: InstructionLabels = {
  record: 'transfer',
  provider: 'bank',
  payment: 'payment',
  pay: 'pay',
  paid: 'paid',
  meanwhile: 'The money is held',
  release: 'the hold is released',
  late: 'a payment goes to suspense',
  suspenseDebit: 'one in suspense is then paid by the wallet',
};
