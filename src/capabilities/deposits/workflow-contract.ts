import type { InstructionContract } from '../../core/instructions/workflow-contract.js';

const record = { record: 'deposit', provider: 'provider' };

/** The contract of the workflow `depositConfirmation`. */
export const depositConfirmationContract = {
  type: 'depositConfirmation',
  labels: {
    ...record,
    payment: 'deposit',
    pay: 'receive the money',
    paid: 'received the money',
    meanwhile: 'The deposit is not credited',
    release: 'the deposit counts as not received',
    late: 'a deposit that is confirmed later is credited',
    suspenseDebit: 'the deposit is credited',
  },
} as const satisfies InstructionContract;

/** The contract of the workflow `depositReturn`. */
export const depositReturnContract = {
  type: 'depositReturn',
  labels: {
    ...record,
    payment: 'return',
    pay: 'return the money',
    paid: 'returned the money',
    meanwhile: 'The money is in suspense',
    release: 'the money stays in suspense',
    late: 'a return that is proven later is booked, and the deposit is assigned to nobody before',
    suspenseDebit: 'the deposit is returned',
  },
} as const satisfies InstructionContract;

/** The id of the workflow that confirms or returns a deposit. */
export const depositWorkflowId = ({
  _id,
  instruction,
}: {
  _id: string;
  instruction: 'confirm' | 'return';
}) => (instruction === 'confirm' ? `deposit-confirmation/${_id}` : `deposit-return/${_id}`);

/** Pages of one search for deposits. */
export const DEPOSIT_PAGES = 500;

/** Input of `depositReconciliation`. */
export type DepositReconciliationInput = {
  provider: string;
  /** Days back that the provider's list is read. */
  days: number;
  /** Calls to the provider per second. */
  perSecond: number;
  /** `DEPOSIT_PAGES` of the version that started the run. Older runs have none. */
  maxPages?: number;
};

/** The place of a reconciliation in the provider's list, and then among the accounts that are queried again. */
export type DepositReconciliationPosition =
  { step: 'list'; fromMs: number; toMs: number; cursor: string | null } | { step: 'requery' };

/** The result of one page: deposits that were not known, and the next position; null at the end. */
export type DepositReconciliationPage = {
  found: number;
  asked: number;
  unanswered: boolean;
  next: DepositReconciliationPosition | null;
};

/** Id of the Schedule and of its workflow. */
export const depositReconciliationId = (taskQueue: string, provider: string): string =>
  `deposit-reconciliation/${taskQueue}/${provider}`;
