import type { Act } from '../audit/entry.js';

/** The source of a fact. */
export type FactSource = {
  /** `note`: a request of the tenant. */
  via: 'provider_answer' | 'poll' | 'webhook' | 'operator' | 'note';
  /** Null: the record's provider itself. */
  actor: string | null;
  providerRequestId: string | null;
  /** When the provider was asked; missing if the fact is no answer to a question, or if the answer may be an old one. */
  askedMs?: number;
  /** An operator's reason. */
  note: string | null;
  /** The act of the operator, for the audit log and its approval. */
  act?: Act;
};

/**
 * A proven fact about an instruction. Facts have a rank, so their order of arrival does not matter: a reversal outranks
 * the payment. All capabilities share these kinds; `succeeded` of a card funding, for example, is "funded".
 */
export type InstructionFact = FactSource &
  /**
   * `feeMinor`: the provider's price to us; null or missing if it is not known. `unlessFailed`: the provider may have failed it
   * after this report, so the report alone says nothing about a record that has failed by now.
   */
  (
    | {
        kind: 'succeeded';
        amountMinor: bigint | null;
        sessionId: string | null;
        feeMinor?: bigint | null;
        unlessFailed?: true;
      }
    /**
     * `ifNotSubmitted`: without effect if the provider may have anything. Scope `request`: without effect if it may have
     * another submission.
     */
    | { kind: 'rejected'; code: string; ifNotSubmitted?: boolean; scope?: 'request' }
    | { kind: 'reversed'; amountMinor: bigint | null; sessionId: string | null }
    /**
     * By an operator, after the provider has confirmed the payment. The wallet pays for a payment in suspense; attention
     * on a completed record is cleared. `amountMinor`: the amount that the provider has executed and the operator accepts,
     * if the provider reports another one than was requested.
     */
    | { kind: 'operator_confirmed'; amountMinor?: bigint | null; sessionId?: string | null }
  );
