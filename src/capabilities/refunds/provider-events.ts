import type {
  PaymentEvent,
  Refund as ProviderRefund,
} from '../../core/providers/payment-provider.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
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
import { opaqueId } from '../../shared/card-data.js';
import type { ProviderEvent } from '../../core/provider-events/event.js';
import { refundFactOf } from './provider-calls.js';
import { deskRefundId, type Refund } from './refund.js';
import { readAttempt, type Charge } from '../charges/charge.js';
import type { Charges } from '../charges/index.js';
import { isId } from '../../shared/ids.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { Refunds } from './store.js';

type Deps = {
  charges: {
    store: Pick<Charges, 'find'>;
    starter: Pick<WorkflowStarter<Charge>, 'notifyChangedSoon'>;
  };
  refunds: {
    store: Pick<Refunds, 'find' | 'applyFact' | 'acknowledge' | 'recordDeskRefund'>;
    starter: Pick<WorkflowStarter<Refund>, 'notifyChangedSoon'>;
  };
};

/** Applies the events of payment providers to refunds. The provider's note of a refund of ours is our id. */
export const refundEventHandler = ({
  charges,
  refunds: { store: refunds, starter },
}: Deps): ProviderEventHandler => ({
  port: 'payments',
  subjects: ['refund'],
  toFacts(event) {
    const { about } = event as PaymentEvent;
    return about.subject === 'refund' ? [toStored(about.refund)] : [];
  },
  async apply(stored, event) {
    const { reference, state } = stored;
    // The money of a dispute is booked under the dispute.
    if (state['dispute'] !== null) return NOTHING_TO_APPLY;
    if (isFromDesk(stored)) return applyDeskRefund({ charges, refunds }, stored, event);
    const refund = reference === null ? null : await refunds.find(reference);
    if (!refund || !isAbout(stored, event, refund)) {
      return unknownReference(state.kind !== 'rejected');
    }
    const fact = toFact(stored, event, refund);
    if (state.kind === 'pending') await refunds.acknowledge(refund.tenant_id, refund._id);
    const result = fact && (await refunds.applyFact(refund, fact));
    starter.notifyChangedSoon(refund);
    if (!result) return NOTHING_TO_APPLY;
    return applied(result.kind === 'fact' ? result.verdict : result.kind);
  },
});

/** True if the refund has no note of ours: it was made at the provider's own desk. */
const isFromDesk = ({ reference, state }: OpenFact) => reference === state['charge'];

/** A refund from the desk becomes a refund here once it is made, and fails here if it fails there later. */
async function applyDeskRefund(
  { charges, refunds }: { charges: Deps['charges']; refunds: Deps['refunds']['store'] },
  { state }: OpenFact,
  event: ProviderEvent,
): Promise<Applied> {
  if (state.kind !== 'succeeded' && state.kind !== 'returned') return NOTHING_TO_APPLY;
  const attempt = readAttempt(String(state['charge']));
  const charge = attempt && (await charges.store.find(attempt.id));
  const isOurs = charge?.provider === event.provider && charge.currency === state['currency'];
  if (!charge || !isOurs) return unknownReference(true);
  const providerRefundId = state['refund'] as string | null;
  // Without an id a repeat could not be recognized.
  if (providerRefundId === null) return unknownReference(true);
  const amountMinor = (state['amount_minor'] as bigint | null) ?? 0n;
  if (state.kind === 'succeeded') {
    const made = { attempt: attempt.attempt, providerRefundId, amountMinor };
    const result = await refunds.recordDeskRefund(charge, made);
    // A charge whose payment was returned from suspense fails.
    charges.starter.notifyChangedSoon(charge);
    return result === 'unknown' ? unknownReference(true) : applied(result);
  }
  const refund = await refunds.find(deskRefundId(event.provider, providerRefundId));
  if (!refund) return unknownReference(true);
  const returned = { id: providerRefundId, amountMinor, state: 'returned' } as const;
  const fact = refundFactOf(returned, sourceOf(event));
  const result = fact && (await refunds.applyFact(refund, fact));
  return result ? applied(result.kind === 'fact' ? result.verdict : result.kind) : NOTHING_TO_APPLY;
}

/** A refund that was made at the provider's own desk has no id of ours as its note, so its charge is its reference. */
const toStored = ({
  id,
  marker,
  charge: { reference: charge },
  dispute,
  amountMinor,
  currency,
  state,
  code,
}: ProviderRefund): NewFact => ({
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
  },
});

/** A provider reports its own payments only; a note of ours at another charge is not this refund. */
const isAbout = ({ state }: OpenFact, { provider }: ProviderEvent, refund: Refund) =>
  refund.provider === provider && refund.provider_charge_reference === state['charge'];

/** In another currency there is nothing to apply: the workflow verifies, and raises attention. */
function toFact({ state }: OpenFact, event: ProviderEvent, refund: Refund): InstructionFact | null {
  if (state['currency'] !== refund.currency) return null;
  const code = state['code'] as string | null;
  return refundFactOf(
    {
      id: state['refund'] as string | null,
      amountMinor: (state['amount_minor'] as bigint | null) ?? 0n,
      state: state.kind as ProviderRefund['state'],
      ...(code !== null && { code }),
    },
    sourceOf(event),
  );
}
