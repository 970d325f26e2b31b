import type { InstructionLabels } from '../../core/instructions/labels.js';

export const chargeWords: InstructionLabels = {
  record: 'charge',
  provider: 'provider',
  payment: 'payment',
  pay: 'collect it',
  paid: 'was paid',
  meanwhile: 'Nothing is credited yet',
  release: 'the charge is given up',
  late: 'a payment is credited, whenever it is proven',
  suspenseDebit: 'what contradicts it is then settled',
};
