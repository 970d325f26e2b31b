import type { PageBounds, RecordCounts } from '../../core/reconciliation/workflow-contract.js';
import type {
  InstructionContract,
  InstructionInput,
  RecordRef,
} from '../../core/instructions/workflow-contract.js';

/** Contract of the workflow `transfer`. */
export const transferContract = {
  type: 'transfer',
  labels: {
    record: 'transfer',
    provider: 'bank',
    payment: 'payment',
    pay: 'pay',
    paid: 'paid',
    meanwhile: 'The money is held',
    release: 'the hold is released',
    late: 'a late payment goes to suspense',
    returned: 'amount and fee are in the wallet again',
    undone: 'what is booked of it is taken back',
    suspenseDebit: 'one in suspense is then paid by the wallet',
  },
} as const satisfies InstructionContract;

/** Input of `transfer`. Histories keep it: no account number or name may be added. */
export type TransferInput = InstructionInput & {
  /** True if the name enquiry was answered before acceptance. */
  recipientKnown: boolean;
};

/** The name enquiry found no such account. Fails only a transfer that was never submitted. */
export type NoSuchAccount = { kind: 'no_such_account' };

/** Result of the name enquiry that the workflow makes. `no_answer` lets the workflow go on without a name. */
export type ResolveRecipientResult = { kind: 'resolved' | 'no_such_account' | 'no_answer' };

/** Input of `transferMicroBatch`: transfers to one provider that were accepted within moments. */
export type TransferMicroBatchInput = { rateLimitKey: string; transfers: RecordRef[] };

/** The place of a reconciliation in the order of creation: the transfers after `after` and before `until` are left. */
export type ReconciliationPosition = {
  after: string;
  until: string;
  /** The place in the provider's own list, which is read after the transfers. Absent before it. */
  list?: { from: string; to: string; cursor: string | null };
};

/** Input of one page of a reconciliation. Without a position, it begins `days` days ago. */
export type ReconciliationPageInput = {
  provider: string;
  days: number;
  /** Lookups at the provider per second. */
  perSecond: number;
  position: ReconciliationPosition | null;
};

/** The result of one page. Without a position, nothing is left. */
export type ReconciliationPage = {
  counts: RecordCounts;
  position: ReconciliationPosition | null;
};

/** Input of `transferReconciliation`: the position and the counts are those of earlier runs of the same reconciliation. */
export type TransferReconciliationInput = ReconciliationPageInput &
  PageBounds & { counts: RecordCounts };

/** Id of the Schedule and of its workflow. Each set of workers has a reconciliation for each provider. */
export const transferReconciliationId = (taskQueue: string, provider: string): string =>
  `transfer-reconciliation/${taskQueue}/${provider}`;
