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
