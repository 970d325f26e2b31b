import type { InstructionContract } from '../../core/instructions/workflow-contract.js';

const record = { record: 'virtual account', provider: 'provider' };

/** The contract of the workflow `virtualAccountAssignment`. */
export const accountAssignmentContract = {
  type: 'virtualAccountAssignment',
  labels: {
    ...record,
    payment: 'account',
    pay: 'assign the account',
    paid: 'assigned the account',
    meanwhile: 'The account has no number yet',
    release: 'the account fails',
    late: 'an account that is assigned later waits for an operator',
    suspenseDebit: 'a failed account becomes active',
  },
} as const satisfies InstructionContract;

/** The contract of the workflow `virtualAccountClosing`. */
export const accountClosingContract = {
  type: 'virtualAccountClosing',
  labels: {
    ...record,
    payment: 'closing',
    pay: 'close the account',
    paid: 'closed the account',
    meanwhile: 'The account is closing, and deposits on it are suspended',
    release: 'the account is active again',
    late: null,
    suspenseDebit: 'the account is closed',
  },
} as const satisfies InstructionContract;

/** The id of the workflow that assigns or closes an account. */
export const accountWorkflowId = ({
  _id,
  instruction,
}: {
  _id: string;
  instruction: 'assign' | 'close';
}) =>
  instruction === 'assign' ? `virtual-account-assignment/${_id}` : `virtual-account-closing/${_id}`;
