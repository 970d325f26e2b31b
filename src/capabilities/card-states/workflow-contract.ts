import type { OperationInput } from '../cards/workflow-contract.js';
import type { InstructionLabels } from '../../core/instructions/labels.js';

/** The workflow of a card is given the card alone: what is under way it asks for, again and again. */
export type CardStateInput = Omit<OperationInput, 'id' | 'acceptedAtMs'> & { card: string };

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
