/** Who said a fact, and how. */
export type FactSource = {
  via: 'provider_answer' | 'poll' | 'webhook' | 'operator';
  /** Null: the record's provider itself. */
  actor: string | null;
  providerRequestId: string | null;
  /** An operator's reason. */
  note: string | null;
};

/**
 * What can become known of anything that a provider was told to do. Facts are ranked, not ordered by arrival: a
 * reversal outranks the payment. The words are those of transfers, and histories hold them: what is paid with a card
 * issuer, say, is a funding.
 */
export type InstructionFact = FactSource &
  (
    | { kind: 'succeeded'; amountMinor: bigint | null; sessionId: string | null }
    /** `ifNotSubmitted`: an operator's word that counts only as long as no order has left us. */
    | { kind: 'rejected'; code: string; ifNotSubmitted?: boolean }
    | { kind: 'reversed'; amountMinor: bigint | null; sessionId: string | null }
    /**
     * An operator stands by a payment that the provider confirms: one in `suspense` is paid by the wallet after all,
     * and the attention of a completed record is settled.
     */
    | { kind: 'operator_confirmed' }
  );
