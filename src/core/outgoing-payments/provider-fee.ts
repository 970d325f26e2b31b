import type { InstructionFact } from '../instructions/fact.js';
import { applyChange, labelOf, raiseAttention, type Change } from '../instructions/transition.js';
import type { InstructionLabels } from '../instructions/workflow-contract.js';
import { accounts, posting, type Posting } from '../ledger/posting.js';
import { settledOf, type OutgoingPayment, type PaymentTransition } from './outgoing-payment.js';

/** The step of the provider's price. */
export const PROVIDER_FEE = 'provider-fee';

/** The provider's price of a payment, which Bursar pays from its own fees: fees → provider fees. */
export const providerFeePosting = (
  { _id: id, tenant_id: tenantId, provider }: OutgoingPayment,
  at: Date,
  feeMinor: bigint,
): Posting =>
  posting(`${id}/${PROVIDER_FEE}`, tenantId, at, [
    { account: accounts.fees, amountMinor: -feeMinor },
    { account: accounts.providerFees(provider), amountMinor: feeMinor },
  ]);

/**
 * The transition of a fact, with the price that the provider has reported for a payment that it has made. It is booked once,
 * whether it is reported with the payment or later. Another price than before raises attention and moves nothing.
 */
export function withProviderFee<P extends OutgoingPayment>(
  payment: P,
  transition: PaymentTransition<P>,
  fact: { kind: string },
  { now, labels }: { now: Date; labels: InstructionLabels },
): PaymentTransition<P> {
  const { next } = transition;
  const feeMinor = isSucceeded(fact) ? reportedFee(next, fact) : null;
  if (feeMinor === null || !isSucceeded(fact)) return transition;
  const known = next.provider_fee_minor ?? null;
  const set: Partial<OutgoingPayment> = { provider_fee_minor: feeMinor };
  const postings = [...transition.postings];
  if (known === null && feeMinor > 0n) postings.push(providerFeePosting(next, now, feeMinor));
  // Reported with the payment, which is on the timeline already.
  if (next !== payment && known === null)
    return { ...transition, next: { ...next, ...set }, postings };
  const change: Change<OutgoingPayment> | 'unchanged' =
    known === null
      ? { set, entry: ['note', `the ${labels.provider} has reported its price`] }
      : raiseAttention(next, now, `the ${labels.provider} reports another price than before`);
  if (change === 'unchanged') return transition;
  const { verdict = 'applied' } = change;
  const changed = applyChange<OutgoingPayment>(next, fact, labelOf(fact), change, now) as P;
  return { ...transition, verdict, next: changed, postings };
}

type Succeeded = Extract<InstructionFact, { kind: 'succeeded' }>;
const isSucceeded = (fact: { kind: string }): fact is Succeeded => fact.kind === 'succeeded';

/** The price in a report that fits a payment which was made; null if there is none, or if it is booked already. */
function reportedFee(payment: OutgoingPayment, { feeMinor = null, amountMinor }: Succeeded) {
  const { status, in_suspense: inSuspense, reversed_at: reversedAt } = payment;
  const isMade = status === 'completed' || inSuspense || reversedAt !== null;
  const isOther = amountMinor !== null && amountMinor !== settledOf(payment);
  const isKnown = feeMinor === (payment.provider_fee_minor ?? null);
  return !isMade || isOther || isKnown || feeMinor === null || feeMinor < 0n ? null : feeMinor;
}

/** True if the provider reports a price of a payment that is not booked yet. */
export const lacksFee = (
  {
    provider_fee_minor: known = null,
    status,
  }: Pick<OutgoingPayment, 'provider_fee_minor' | 'status'>,
  answer: { kind: string; feeMinor?: bigint | null },
): boolean => known === null && status === 'completed' && (answer.feeMinor ?? 0n) > 0n;
