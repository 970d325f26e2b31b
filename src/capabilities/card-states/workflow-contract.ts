import type { OperationInput } from '../cards/workflow-contract.js';
import type { InstructionLabels } from '../../core/instructions/labels.js';

/** The input of a card's state workflow. It names the card alone: the workflow looks up each next open operation. */
export type CardStateInput = Omit<OperationInput, 'id' | 'acceptedAtMs'> & { card: string };

/** The texts for operators about a change of a card's state. */
export const cardStateLabels: InstructionLabels = {
  record: 'operation',
  provider: 'issuer',
  payment: 'change',
  pay: 'make the change',
  paid: 'made the change',
  meanwhile: 'A lock or a closing is already in effect here',
  release: 'the card stays locked or closed here',
  late: null,
  suspenseDebit: 'nothing else changes',
};
