import type {
  InstructionContract,
  InstructionInput,
} from '../../core/instructions/workflow-contract.js';

/** Contract of the workflow `cardState`. */
export const cardStateContract = {
  type: 'cardState',
  labels: {
    record: 'operation',
    provider: 'issuer',
    payment: 'change',
    pay: 'make the change',
    paid: 'made the change',
    meanwhile: 'With us the card is shut already',
    release: 'the card stays shut',
    late: null,
    suspenseDebit: 'nothing else changes',
  },
} as const satisfies InstructionContract;

export type CardRef = { tenantId: string; cardId: string };

/** Input of `cardState`. One run serves all changes of a card, so it names no operation. */
export type CardStateInput = CardRef &
  Pick<InstructionInput, 'rateLimitKey' | 'taskQueue' | 'policy'>;

/** The operation that a run of `cardState` executes next. */
export type NextCardState = { id: string; acceptedAtMs: number };
