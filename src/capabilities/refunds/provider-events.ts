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
import { opaqueId } from '../../shared/card-data.js';
import type { ProviderEvent } from '../../core/provider-events/event.js';
import type { RefundCalls } from './provider-calls.js';
import { deskRefundId, type Refund } from './record.js';
import { readAttempt, type Charge } from '../charges/record.js';
import type { Charges } from '../charges/index.js';
import { isId } from '../../shared/ids.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { Refunds } from './store.js';

type Deps = {
  charges: {
    store: Pick<Charges, 'find'>;
    starter: { notifyChangedSoon(charge: Pick<Charge, '_id'>): void };
  };
  refunds: {
    store: Pick<
      Refunds,
      | 'find'
      | 'applyFact'
      | 'acknowledge'
      | 'recordDeskRefund'
      | 'refuseDeskRefund'
      | 'noteUnnamedRefusal'
      | 'hasDeskRefund'
    >;
    starter: Pick<WorkflowStarter<Refund>, 'notifyChangedSoon'>;
    providerCalls: Pick<RefundCalls, 'factOf'>;
  };
};

/** Applies the events of payment providers to refunds. The provider's note of a refund of ours is our id. */
export const refundEventHandler = ({ charges, refunds }: Deps): ProviderEventHandler => ({
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
    const refund = reference === null ? null : await refunds.store.find(reference);
    if (!refund || !isAbout(stored, event, refund)) {
      return unknownReference(state.kind !== 'rejected');
    }
    if (state.kind === 'pending') await refunds.store.acknowledge(refund.tenant_id, refund._id);
    const result = await applyReport(refunds, refund, stored, event);
    refunds.starter.notifyChangedSoon(refund);
    if (refund.made_by === 'operator') charges.starter.notifyChangedSoon({ _id: refund.charge_id });
    return result;
  },
});

/** Applies a report about a refund, and again if a commit in between has changed what it means. */
async function applyReport(
  { store, providerCalls }: Pick<Deps['refunds'], 'store' | 'providerCalls'>,
  refund: Refund,
  stored: OpenFact,
  event: ProviderEvent,
): Promise<Applied> {
  // In another currency there is nothing to apply: the workflow verifies, and raises attention.
  if (stored.state['currency'] !== refund.currency) return NOTHING_TO_APPLY;
  const factFor = (of: Refund) => providerCalls.factOf(of, reportIn(stored), sourceOf(event));
  const fact = factFor(refund);
  if (!fact) return NOTHING_TO_APPLY;
  const first = await store.applyFact(refund, fact);
  if (first.kind !== 'fact') return applied(first.kind);
  const now = fact.kind === 'rejected' && factFor(first.refund);
  if (!now || now.kind === 'rejected') return applied(first.verdict);
  const second = await store.applyFact(refund, now);
  return applied(second.kind === 'fact' ? second.verdict : second.kind);
}

/** True if the refund has no note of ours: it was made at the provider's own desk. */
const isFromDesk = ({ reference, state }: OpenFact) => reference === state['charge'];

const FINAL: ReadonlySet<string> = new Set(['succeeded', 'returned', 'rejected']);

/** A refund from the desk becomes a refund here once it is made, and fails here if it fails there later. */
async function applyDeskRefund(
  { charges, refunds }: Deps,
  stored: OpenFact,
  event: ProviderEvent,
): Promise<Applied> {
  const { state } = stored;
  if (!FINAL.has(state.kind)) return NOTHING_TO_APPLY;
  const attempt = readAttempt(String(state['charge']));
  const charge = attempt && (await charges.store.find(attempt.id));
  const isOurs = charge?.provider === event.provider && charge.currency === state['currency'];
  const unknown = unknownReference(state.kind !== 'rejected');
  if (!charge || !isOurs) return unknown;
  const providerRefundId = state['refund'] as string | null;
  if (providerRefundId === null) return applyUnnamed(refunds, charge, stored, event);
  if (state.kind === 'succeeded') {
    const amountMinor = amountOf(stored);
    const made = { attempt: attempt.attempt, providerRefundId, amountMinor };
    const result = await refunds.store.recordDeskRefund(charge, made);
    // A charge whose payment was returned from suspense fails.
    charges.starter.notifyChangedSoon(charge);
    return result === 'unknown' ? unknown : applied(result);
  }
  const id = deskRefundId(event.provider, providerRefundId);
  return applyDeskFailure(refunds, { charge, id }, stored, event);
}

/** Without the provider's id a repeat could not be recognized, so no money moves: an operator is called if some has moved. */
async function applyUnnamed(
  { store }: Pick<Deps['refunds'], 'store'>,
  charge: Charge,
  stored: OpenFact,
  event: ProviderEvent,
): Promise<Applied> {
  if (stored.state.kind !== 'rejected') return unknownReference(true);
  const amountMinor = amountOf(stored);
  const mayConcern =
    charge.returned_refunds.length > 0 || (await store.hasDeskRefund(charge, amountMinor));
  // If its refund is recorded after the last try of this event, an operator is called then.
  if (!mayConcern) await store.noteUnnamedRefusal(charge, { event: event._id, amountMinor });
  return unknownReference(mayConcern);
}

/**
 * Applies the failure of a refund from the desk to its record. One that is not recorded was never made, and is noted, because
 * its report may arrive later. One that was taken from suspense has no record to return to.
 */
async function applyDeskFailure(
  refunds: Deps['refunds'],
  { charge, id }: { charge: Charge; id: string },
  stored: OpenFact,
  event: ProviderEvent,
): Promise<Applied> {
  const known = await refunds.store.find(id);
  if (known) return applyReport(refunds, known, stored, event);
  if (stored.state.kind === 'returned') return unknownReference(true);
  const result = await refunds.store.refuseDeskRefund(charge, id);
  if (result === 'refused') return NOTHING_TO_APPLY;
  const made = result === 'made' ? await refunds.store.find(id) : null;
  return made ? applyReport(refunds, made, stored, event) : unknownReference(true);
}

const amountOf = ({ state }: OpenFact): bigint => (state['amount_minor'] as bigint | null) ?? 0n;

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

/** A stored report, as the provider made it. */
const reportIn = ({ state }: OpenFact) => {
  const code = state['code'] as string | null;
  return {
    id: state['refund'] as string | null,
    amountMinor: (state['amount_minor'] as bigint | null) ?? 0n,
    state: state.kind as ProviderRefund['state'],
    ...(code !== null && { code }),
  };
};
