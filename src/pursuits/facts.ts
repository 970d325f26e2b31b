/** Who said a fact, and how. */
export type FactOrigin = {
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
export type PursuitFact = FactOrigin &
  (
    | { kind: 'paid'; amountMinor: bigint | null; sessionId: string | null }
    /** `ifUnsent`: an operator's word that counts only as long as no order has left us. */
    | { kind: 'refused'; code: string; ifUnsent?: boolean }
    | { kind: 'reversed'; amountMinor: bigint | null; sessionId: string | null }
    /**
     * An operator stands by a payment that the provider confirms: one in `suspense` is paid by the wallet after all,
     * and the attention of a completed record is settled.
     */
    | { kind: 'confirmed' }
  );
