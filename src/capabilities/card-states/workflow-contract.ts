import type {
  InstructionContract,
  InstructionInput,
} from '../../core/instructions/workflow-contract.js';

/** The contract of the workflow `cardState`. Its labels are the texts for operators about a change of a card's state. */
export const cardStateContract = {
  type: 'cardState',
  labels: {
    record: 'operation',
    provider: 'issuer',
    payment: 'change',
    pay: 'make the change',
    paid: 'made the change',
    meanwhile: 'A lock or a closing is already in effect here',
    release: 'the card stays locked or closed here',
    late: null,
    suspenseDebit: 'nothing else changes',
  },
} as const satisfies InstructionContract;

/** The card whose changes of state a workflow executes. */
export type CardRef = { tenantId: string; cardId: string };

/** The input of `cardState`. It names the card alone: the workflow looks up each next open operation. */
export type CardStateInput = CardRef &
  Pick<InstructionInput, 'rateLimitKey' | 'taskQueue' | 'policy'>;

/** The open operation that a run of `cardState` executes next. */
export type NextCardState = { id: string; acceptedAtMs: number };
