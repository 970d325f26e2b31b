import type {
  PaymentProvider,
  Refund as ProviderRefund,
} from '../../core/providers/payment-provider.js';
import type { ResendSafety, CallTrace } from '../../core/providers/transfer-provider.js';
import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import type { Refund } from './refund.js';
import type { Refunds } from './store.js';

type Deps = {
  refunds: Pick<Refunds, 'applyFact'>;
  providers: { payment(name: string): PaymentProvider };
};

/** The calls to the providers of refunds. */
export type RefundCalls = ReturnType<typeof createRefundCalls>;

/**
 * Creates the provider calls of refunds. The provider takes no reference and refunds again for each accepted request, so
 * our id is sent as a note, and the refund with that note in the charge's list is ours.
 */
export function createRefundCalls({ refunds, providers }: Deps) {
  return {
    resendSafetyOf: ({ provider }: Refund): ResendSafety =>
      providers.payment(provider).payments.refunds,

    async submit(refund: Refund, requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome> {
      const answer = await providers.payment(refund.provider).refund(
        {
          charge: refund.provider_charge_reference,
          amountMinor: refund.amount_minor,
          currency: refund.currency,
          marker: refund._id,
          clientReference: refund.reference,
          requestedAt,
        },
        signal,
      );
      return answer.kind === 'taken' ? outcomeOf(refund, answer.refund, answer) : answer;
    },

    async verify(refund: Refund, signal: AbortSignal): Promise<ProviderOutcome> {
      const answer = await providers
        .payment(refund.provider)
        .findRefunds(refund.provider_charge_reference, signal);
      const { kind, providerRequestId } = answer;
      if (kind === 'unknown') return answer;
      // The charge was paid at this provider, so "charge not found" proves nothing about its refunds.
      if (kind === 'not_found') return { kind: 'unknown', reason: 'unreadable', providerRequestId };
      const [first, ...others] = answer.refunds
        .filter(({ marker, id }) =>
          // A refund from the provider's desk has no note of ours.
          refund.made_by === 'provider' ? id === refund.provider_refund_id : marker === refund._id,
        )
        .toSorted((a, b) => RANK[a.state.kind] - RANK[b.state.kind]);
      if (!first) return { kind: 'not_found', providerRequestId };
      const by = { via: 'poll', actor: null, note: null, providerRequestId } as const;
      for (const other of others) {
        const fact = other.state.kind === 'refunded' && refundFactOf(other, by);
        if (fact) await refunds.applyFact(refund, fact);
      }
      return outcomeOf(refund, first, answer);
    },
  };
}

/**
 * If several refunds have our note, a completed one outranks a pending one, that one a returned one, and that one a rejected
 * one.
 */
const RANK = { refunded: 0, pending: 1, returned: 2, rejected: 3 } as const;

function outcomeOf(
  { currency }: Refund,
  { id, amountMinor, state, ...refund }: ProviderRefund,
  { providerRequestId }: CallTrace,
): ProviderOutcome {
  if (state.kind === 'rejected') return { kind: 'rejected', code: state.code, providerRequestId };
  if (state.kind === 'pending') return { kind: 'pending', providerRequestId };
  const kind = state.kind === 'returned' ? ('reversed' as const) : ('succeeded' as const);
  const paid = { kind, amountMinor, sessionId: id, providerRequestId };
  if (refund.currency === currency) return paid;
  const attention = 'the provider reports another currency than was requested';
  return { ...paid, result: { kind: 'mismatch', attention } };
}

/** The fact in a provider's report about a refund; null if the report is not final. */
export function refundFactOf(
  { id, amountMinor, state }: Pick<ProviderRefund, 'id' | 'amountMinor' | 'state'>,
  origin: FactSource,
): InstructionFact | null {
  switch (state.kind) {
    case 'refunded':
      return { ...origin, kind: 'succeeded', amountMinor, sessionId: id };
    case 'returned':
      return { ...origin, kind: 'reversed', amountMinor, sessionId: id };
    case 'rejected':
      return { ...origin, kind: 'rejected', code: state.code };
    case 'pending':
      return null;
  }
}
