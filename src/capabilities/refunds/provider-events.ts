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
  type NewFact,
  type OpenFact,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import { safeReference } from '../../core/provider-events/message.js';
import type { ProviderEvent } from '../../core/provider-events/event.js';
import { refundFactOf } from './provider-calls.js';
import type { Refund } from './refund.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { Refunds } from './store.js';

/** Applies the events of payment providers to refunds. The provider's note of a refund of ours is our id. */
export const refundEventHandler = ({
  refunds: { store: refunds, starter },
}: {
  refunds: {
    store: Pick<Refunds, 'find' | 'applyFact'>;
    starter: Pick<WorkflowStarter<Refund>, 'notifyChangedSoon'>;
  };
}): ProviderEventHandler => ({
  port: 'payments',
  subjects: ['refund'],
  toFacts(event) {
    const { charge, about } = event as PaymentEvent;
    return about.subject === 'refund' ? [toStored(charge, about.refund)] : [];
  },
  async apply(stored, event) {
    const { reference, state } = stored;
    const refund = reference === null ? null : await refunds.find(reference);
    if (!refund || !isAbout(stored, event, refund)) {
      return unknownReference(state.kind !== 'rejected');
    }
    const fact = toFact(stored, event, refund);
    const result = fact && (await refunds.applyFact(refund, fact));
    starter.notifyChangedSoon(refund);
    if (!result) return NOTHING_TO_APPLY;
    return applied(result.kind === 'fact' ? result.verdict : result.kind);
  },
});

/** A refund that was made at the provider's own desk has no id of ours, so its charge is its reference. */
const toStored = (
  charge: string,
  { id, marker, amountMinor, currency, state }: ProviderRefund,
): NewFact => ({
  subject: 'refund',
  reference: marker ?? charge,
  state: {
    kind: state.kind,
    amount_minor: amountMinor,
    currency,
    refund: id,
    charge: safeReference(charge),
    code: state.kind === 'rejected' ? state.code : null,
  },
});

/** A provider reports its own payments only; a note of ours at another charge is not this refund. */
const isAbout = ({ state }: OpenFact, { provider }: ProviderEvent, refund: Refund) =>
  refund.provider === provider && refund.provider_charge_reference === state['charge'];

/** In another currency there is nothing to apply: the workflow verifies, and raises attention. */
function toFact({ state }: OpenFact, event: ProviderEvent, refund: Refund): InstructionFact | null {
  if (state['currency'] !== refund.currency) return null;
  const kind = state.kind as ProviderRefund['state']['kind'];
  return refundFactOf(
    {
      id: String(state['refund']),
      amountMinor: (state['amount_minor'] as bigint | null) ?? 0n,
      state: kind === 'rejected' ? { kind, code: String(state['code']) } : { kind },
    },
    sourceOf(event),
  );
}
