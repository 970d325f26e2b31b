import type {
  PaymentProvider,
  Refund as ProviderRefund,
  RefundAnswer,
} from '../../providers/payment-provider.js';
import type { Absence, CallTrace } from '../../providers/provider.js';
import type { FactOrigin, PursuitFact } from '../../pursuits/facts.js';
import type { Heard } from '../../pursuits/heard.js';
import type { Refund } from './refund.js';
import type { Refunds } from './store.js';

type Deps = {
  refunds: Pick<Refunds, 'applyFact'>;
  providers: { payment(name: string): PaymentProvider };
};

export type RefundCalls = ReturnType<typeof createRefundCalls>;

/**
 * How refunds are ordered and asked about. The provider takes no reference of ours, and refunds again whatever it takes:
 * our id goes along as a note, and what has that note in the list of the charge's refunds is ours.
 */
export function createRefundCalls({ refunds, providers }: Deps) {
  return {
    absenceOf: ({ provider }: Refund): Absence => providers.payment(provider).payments.refunds,

    async send(refund: Refund, requestedAt: Date, signal: AbortSignal): Promise<Heard> {
      const answer = await providers.payment(refund.provider).refund(
        {
          charge: refund.paid_as,
          amountMinor: refund.amount_minor,
          currency: refund.currency,
          marker: refund._id,
          clientReference: refund.reference,
          requestedAt,
        },
        signal,
      );
      return answer.kind === 'taken' ? heardOf(refund, answer.refund, answer) : asHeard(answer);
    },

    async verify(refund: Refund, signal: AbortSignal): Promise<Heard> {
      const answer = await providers.payment(refund.provider).findRefunds(refund.paid_as, signal);
      const { kind, providerRequestId } = answer;
      if (kind === 'unknown') return answer;
      // It was paid there: a provider that does not know it any more says nothing about its refunds.
      if (kind === 'not_found') return { kind: 'unknown', reason: 'unreadable', providerRequestId };
      const [first, ...others] = answer.refunds
        .filter(({ marker }) => marker === refund._id)
        .toSorted((a, b) => RANK[a.state.kind] - RANK[b.state.kind]);
      if (!first) return { kind: 'not_found', providerRequestId };
      const by = { via: 'poll', actor: null, note: null, providerRequestId } as const;
      for (const other of others) {
        const fact = other.state.kind === 'refunded' && refundFactOf(other, by);
        if (fact) await refunds.applyFact(refund, fact);
      }
      return heardOf(refund, first, answer);
    },
  };
}

/** Of several with our note, what the customer has decides. */
const RANK = { refunded: 0, pending: 1, refused: 2 } as const;

const asHeard = (answer: Exclude<RefundAnswer, { kind: 'taken' }>): Heard => answer;

function heardOf(
  { currency }: Refund,
  { id, amountMinor, state, ...refund }: ProviderRefund,
  { providerRequestId }: CallTrace,
): Heard {
  if (state.kind === 'refused') return { kind: 'refused', code: state.code, providerRequestId };
  if (state.kind === 'pending') return { kind: 'pending', providerRequestId };
  const paid = { kind: 'paid', amountMinor, sessionId: id, providerRequestId } as const;
  if (refund.currency === currency) return paid;
  const attention = 'the provider reports another currency than was ordered';
  return { ...paid, report: { kind: 'disputed', attention } };
}

/** What a provider says of a refund, as a fact; null while it says nothing final. */
export function refundFactOf(
  { id, amountMinor, state }: Pick<ProviderRefund, 'id' | 'amountMinor' | 'state'>,
  origin: FactOrigin,
): PursuitFact | null {
  switch (state.kind) {
    case 'refunded':
      return { ...origin, kind: 'paid', amountMinor, sessionId: id };
    case 'refused':
      return { ...origin, kind: 'refused', code: state.code };
    case 'pending':
      return null;
  }
}
