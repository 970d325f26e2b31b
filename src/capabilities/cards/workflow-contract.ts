import type { InstructionContract } from '../../core/instructions/workflow-contract.js';
import type { CardOperation } from './card-operation.js';

/** The contract of the workflow `cardIssuance`. Its labels are the texts for operators about issuing a card. */
export const cardIssuanceContract = {
  type: 'cardIssuance',
  labels: {
    record: 'card issuance',
    provider: 'issuer',
    payment: 'card',
    pay: 'issue the card',
    paid: 'issued the card',
    meanwhile: 'The card cannot be used yet',
    release: 'the card fails',
    late: 'a card that is issued later waits for an operator',
    suspenseDebit: 'a failed card becomes active',
  },
} as const satisfies InstructionContract;

/** The fields of an operation that select its workflow. */
export type OperationKey = Pick<
  CardOperation,
  '_id' | 'type' | 'card_id' | 'reverses_operation_id'
>;

/**
 * The id of the workflow that executes an operation. The changes of a card's state share one workflow per card, which
 * executes them in sequence. A fund reversal is executed by the workflow of the funding that it reverses.
 */
export function operationWorkflowId({
  _id,
  type,
  card_id: card,
  reverses_operation_id: reversesOperationId,
}: OperationKey): string {
  switch (type) {
    case 'issue':
      return `card-issuance/${_id}`;
    case 'lock':
    case 'unlock':
    case 'close':
    case 'state_reset':
      return `card-state/${card}`;
    case 'dispute':
    case 'dispute_withdrawal':
      return `card-dispute/${_id}`;
    case 'unload':
      return `card-unload/${_id}`;
    default:
      return `card-funding/${reversesOperationId ?? _id}`;
  }
}
