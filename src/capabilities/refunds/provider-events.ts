import type {
  PaymentEvent,
  Refund as ProviderRefund,
} from '../../core/providers/payment-provider.js';
import {
  applied,
  NOTHING_TO_APPLY,
  sourceOf,
  unknownReference,
  type Applied,
  type NewFact,
  type OpenFact,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import { answerIn, paymentFact } from '../../core/reconciliation/payment-answers.js';
import { opaqueId } from '../../shared/card-data.js';
import type { ProviderEvent } from '../../core/provider-events/event.js';
import type { RefundCalls } from './provider-calls.js';
import type { Refund } from './record.js';
import { isId } from '../../shared/ids.js';
import type { Refunds } from './store.js';
import {
  createUnmarkedReports,
  isJustReceived,
  listNotRead,
  READ_WITHIN_MS,
  type Report,
  type ReportDeps,
} from './messages.js';

type Deps = ReportDeps & {
  refunds: {
    store: Pick<Refunds, 'applyFact' | 'acknowledge'>;
    providerCalls: Pick<RefundCalls, 'factOf' | 'verify'>;
  };
};

/** Applies the events of payment providers to refunds. The provider's note of a refund of ours is our id. */
export const refundEventHandler = (deps: Deps): ProviderEventHandler => {
  const { charges, refunds } = deps;
  const applyUnmarked = createUnmarkedReports(deps, applyReport);
  return {
    port: 'payments',
    subjects: ['refund'],
    toFacts(event) {
      const { about } = event as PaymentEvent;
      return about.subject === 'refund' ? [toStored(about.refund, about.repeatKey ?? null)] : [];
    },
    async apply(stored, event) {
      const { reference, state } = stored;
      // The money of a dispute is booked under the dispute.
      if (state['dispute'] !== null) return NOTHING_TO_APPLY;
      if (reference === state['charge']) return applyUnmarked(stored, event);
      const refund = reference === null ? null : await refunds.store.find(reference);
      if (!refund || !isAbout(stored, event, refund)) {
        return unknownReference(state.kind !== 'rejected');
      }
      if (state.kind === 'pending') await refunds.store.acknowledge(refund.tenant_id, refund._id);
      return applyReport(refund, reportIn(stored), event);
    },
  };

  async function applyReport(
    refund: Refund,
    report: Report,
    event: ProviderEvent,
  ): Promise<Applied> {
    const result = await applyFactOf(refunds, refund, report, event);
    refunds.starter.notifyChangedSoon(refund);
    if (refund.made_by === 'operator') charges.starter.notifyChangedSoon({ _id: refund.charge_id });
    return result;
  }
};

/** Applies a report about a refund, and again if a commit in between has changed what it means. */
async function applyFactOf(
  parts: Deps['refunds'],
  refund: Refund,
  report: Report,
  event: ProviderEvent,
): Promise<Applied> {
  const { store, providerCalls } = parts;
  // In another currency there is nothing to apply: the workflow verifies, and raises attention.
  if (report.currency !== refund.currency) return NOTHING_TO_APPLY;
  const factFor = (of: Refund) => providerCalls.factOf(of, report, sourceOf(event));
  const fact = factFor(refund);
  if (!fact) return NOTHING_TO_APPLY;
  const first = await store.applyFact(refund, fact);
  if (first.kind !== 'fact') return applied(first.kind);
  if (isOverruled(fact, first)) return askAgain(parts, first.refund, event);
  const now = fact.kind === 'rejected' && factFor(first.refund);
  if (!now || now.kind === 'rejected') return applied(first.verdict);
  const second = await store.applyFact(refund, now);
  return applied(second.kind === 'fact' ? second.verdict : second.kind);
}

/** True for a success that says nothing, because the refund has failed and its failure may be newer. */
const isOverruled = (
  { kind }: InstructionFact,
  { verdict, refund }: { verdict: string; refund: Refund },
): boolean =>
  kind === 'succeeded' &&
  verdict === 'stale' &&
  refund.status === 'failed' &&
  refund.reversed_at === null;

/**
 * Applies the present state of a refund that has failed here and whose success is reported. Its provider tells which of the two
 * is newer. The process that has received the report does not ask; a worker does soon.
 */
async function askAgain(
  { store, providerCalls }: Deps['refunds'],
  refund: Refund,
  event: ProviderEvent,
): Promise<Applied> {
  if (isJustReceived(event)) return listNotRead;
  const answer = await providerCalls.verify(refund, AbortSignal.timeout(READ_WITHIN_MS));
  const fact = answer.result ? null : paymentFact(answerIn(answer), refund.provider);
  if (!fact) return listNotRead;
  const result = await store.applyFact(refund, { ...fact, ...sourceOf(event) });
  return applied(result.kind === 'fact' ? result.verdict : result.kind);
}

/** A report without an id of ours as its note has its charge as its reference. */
const toStored = (
  {
    id,
    marker,
    charge: { reference: charge },
    dispute,
    amountMinor,
    currency,
    state,
    code,
  }: ProviderRefund,
  repeatKey: string | null,
): NewFact => ({
  subject: 'refund',
  reference: marker !== null && isId('refund', marker) ? marker : charge,
  state: {
    kind: state,
    amount_minor: amountMinor,
    currency,
    refund: id,
    charge: opaqueId(charge),
    dispute: opaqueId(dispute),
    code: code ?? null,
    ...(repeatKey !== null && { repeat_key: opaqueId(repeatKey) }),
  },
});

/** A provider reports its own payments only; a note of ours at another charge is not this refund. */
const isAbout = ({ state }: OpenFact, { provider }: ProviderEvent, refund: Refund) =>
  refund.provider === provider && refund.provider_charge_reference === state['charge'];

/** A stored report, as the provider made it. */
const reportIn = ({ state }: OpenFact): Report => {
  const code = state['code'] as string | null;
  return {
    id: state['refund'] as string | null,
    amountMinor: (state['amount_minor'] as bigint | null) ?? 0n,
    currency: String(state['currency']),
    state: state.kind as ProviderRefund['state'],
    ...(code !== null && { code }),
  };
};
