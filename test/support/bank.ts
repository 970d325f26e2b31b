import { eventually } from './eventually.js';

/** An effect in the journal of the sandbox bank. */
export type JournalEntry = {
  seq: number;
  kind:
    | 'paid'
    | 'reversed'
    | 'issued'
    | 'funded'
    | 'funding_reversed'
    | 'unloaded'
    | 'unload_reversed'
    | 'card_locked'
    | 'card_opened'
    | 'card_closed'
    | 'locked_by_issuer'
    | 'opened_by_issuer'
    | 'closed_by_issuer'
    | 'authorized'
    | 'declined'
    | 'cleared'
    | 'authorization_reversed'
    | 'authorization_expired'
    | 'refunded_to_card'
    | 'card_refund_reversed'
    | 'clearing_corrected'
    | 'card_disputed'
    | 'card_dispute_refused'
    | 'card_dispute_credited'
    | 'card_dispute_credit_reversed'
    | 'card_dispute_won'
    | 'card_dispute_lost'
    | 'card_dispute_withdrawn'
    | 'charged'
    | 'refunded'
    | 'refund_returned'
    | 'disputed'
    | 'dispute_won'
    | 'dispute_lost'
    | 'authorization_revoked'
    | 'checked'
    | 'opened'
    | 'closed'
    | 'received'
    | 'deposit_reversed'
    | 'deposit_returned';
  reference: string;
  client_reference: string;
  amount_minor: number;
  currency: string;
  session_id: string;
  at: string;
  /** For a dispute: the network's id. */
  dispute?: string;
  /** For a refund: the network's reference of its charge. */
  charge?: string;
  message_id?: string;
  final?: boolean;
  held_minor?: number;
  result?: string;
  /** For a bill. */
  biller?: string;
};

/** A rule that makes calls to the sandbox bank fail. */
export type Fault = {
  call:
    | 'submit'
    | 'lookup'
    | 'enquiry'
    | 'issue'
    | 'fund'
    | 'unload'
    | 'set_state'
    | 'find_authorization'
    | 'dispute'
    | 'withdraw_dispute'
    | 'reverse'
    | 'initialize'
    | 'charge'
    | 'refund'
    | 'cancel'
    | 'setup'
    | 'revoke'
    | 'check'
    | 'authorization'
    | 'assign'
    | 'close'
    | 'requery'
    | 'deposit'
    | 'list'
    | 'return'
    | 'callback'
    | 'any';
  kind:
    | 'error_500'
    | 'hang'
    | 'drop_before'
    | 'drop_after'
    | 'slow'
    | 'throttle'
    | 'conflict'
    | 'unknown_word'
    | 'half_open'
    | 'slow_body'
    | 'reset'
    | 'lost_event'
    | 'duplicate_event';
  probability: number;
  ms?: number;
};

/** A client of the audit routes of the sandbox bank: they show its effects, and set outcomes and faults. */
export function bankAudit(url: string) {
  async function call<Body>(path: string, body?: unknown): Promise<{ status: number; body: Body }> {
    const response = await fetch(`${url}/_sandbox${path}`, {
      signal: AbortSignal.timeout(10_000),
      ...(body !== undefined && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    return { status: response.status, body: (await response.json()) as Body };
  }
  /**
   * Sets the outcome of a pending transfer. Returns the status, 404 as long as the bank does not know the transfer.
   */
  const setTransferOutcome = async (
    reference: string,
    outcome: 'paid' | 'failed',
    amountMinor?: number,
  ) => (await call(`/transfers/${reference}`, { outcome, amount_minor: amountMinor })).status;
  return {
    /** Every effect that took place; only those of one record if its reference is given. */
    async journal(reference?: string): Promise<JournalEntry[]> {
      const query = reference === undefined ? '' : `?reference=${reference}`;
      return (await call<{ entries: JournalEntry[] }>(`/journal${query}`)).body.entries;
    },
    /** Fails the bank over to a copy whose look-ups do not find these references for a time. */
    failOver: async (references: readonly string[], forMs: number) =>
      (await call('/failover', { references, for_ms: forMs })).status,
    setTransferOutcome,
    /**
     * Waits until the bank has the transfer, which it has once the worker has submitted it, and sets its outcome. Throws if
     * the transfer has another outcome already.
     */
    async decideTransfer(
      reference: string,
      outcome: 'paid' | 'failed',
      amountMinor?: number,
    ): Promise<void> {
      const status = await eventually(`the bank has ${reference}`, async () => {
        const answered = await setTransferOutcome(reference, outcome, amountMinor);
        return answered === 404 ? undefined : answered;
      });
      if (status !== 200) throw new Error(`the outcome of ${reference} was answered ${status}`);
    },
    /** Sets our balance at the bank; null is a balance without end. */
    setFloat: async (amountMinor: number | null) =>
      (await call('/float', { amount_minor: amountMinor })).status,
    /** Sets the outcome of a charge; an open page is paid with `choice`. */
    setChargeOutcome: async (
      reference: string,
      outcome: 'paid' | 'declined' | 'abandoned',
      choice?: string,
    ) => (await call(`/charges/${reference}`, { outcome, ...(choice && { choice }) })).status,
    /** Refunds a payment at the network's own desk. */
    refundAtDesk: async (reference: string, amountMinor?: number) =>
      (await call(`/charges/${reference}/refunds`, { amount_minor: amountMinor })).status,
    /** Opens or decides a dispute of a payment. */
    dispute: async (
      reference: string,
      outcome: 'opened' | 'won' | 'lost',
      more: { amount_minor?: number; funds?: 'held' | 'taken' } = {},
    ) => (await call(`/charges/${reference}/disputes`, { outcome, ...more })).status,
    /** Decides a dispute of a card payment, or moves its provisional credit; named by its operation or by its reference. */
    setCardDispute: async (
      reference: string,
      outcome: 'submitted' | 'refused' | 'credited' | 'credit_reversed' | 'won' | 'lost',
      more: { amount_minor?: number; report?: boolean; times?: number } = {},
    ) => (await call(`/card-disputes/${reference}`, { outcome, ...more })).status,
    /** Tells the fee of a payment. */
    tellFee: async (reference: string, feeMinor: number) =>
      (await call(`/charges/${reference}/fee`, { fee_minor: feeMinor })).status,
    /** Sets the outcome of a refund, named by its id or by its tenant's reference. */
    setRefundOutcome: async (reference: string, outcome: 'refunded' | 'failed') =>
      (await call(`/refunds/${reference}`, { outcome })).status,
    /** The issuer changes a card by itself. */
    changeCard: async (card: string, status: 'locked' | 'active' | 'closed') =>
      (await call(`/cards/${card}`, { status })).status,
    /** Sets the outcome of an identity check. */
    setCheckOutcome: async (reference: string, outcome: 'verified' | 'name_mismatch' | 'failed') =>
      (await call(`/checks/${reference}`, { outcome })).status,
    /** Sets the outcome of a pending bill. Returns the status, 404 as long as the bank does not know the bill. */
    setBillOutcome: async (reference: string, outcome: 'paid' | 'failed', amountMinor?: number) =>
      (await call(`/bills/${reference}`, { outcome, amount_minor: amountMinor })).status,
    /** Sets the outcome of a card funding or an unloading, or takes it back: the whole, or the part of this amount. */
    setFundingOutcome: async (
      reference: string,
      outcome: 'funded' | 'failed' | 'reversed',
      amountMinor?: number,
    ) => (await call(`/fundings/${reference}`, { outcome, amount_minor: amountMinor })).status,
    /** Decides a pending virtual account or closes an open one, named by our id or by its customer. */
    setAccountOutcome: async (name: string, outcome: 'opened' | 'failed' | 'closed') =>
      (await call(`/virtual-accounts/${name}`, { outcome })).status,
    /** Sends money to a virtual account. The ending of `sender_name` selects what the bank reports. */
    deposit: async (
      accountNumber: string,
      order: {
        amount_minor: number;
        currency?: string;
        sender_name?: string;
        session_id?: string;
        times?: number;
        tell?: 'callback' | 'nobody';
      },
    ) =>
      (await call<{ deposit: string }>(`/virtual-accounts/${accountNumber}/deposits`, order)).body
        .deposit,
    /** Takes a deposit back, named by the bank's id. */
    reverseDeposit: async (id: string) => (await call(`/deposits/${id}/reversal`, {})).status,
    /** Sets the fault rules. The seed decides which calls fail. */
    async faults(rules: Fault[], seed = 'bursar'): Promise<void> {
      await call('/faults', rules.length === 0 ? {} : { seed, rules });
    },
    /** Number of callbacks that no receiver has accepted yet. */
    callbacksWaiting: async () =>
      (await call<{ callbacks_waiting: number }>('/health')).body.callbacks_waiting,
  };
}
