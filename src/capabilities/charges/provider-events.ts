import type { ChargeState, PaymentEvent } from '../../core/providers/payment-provider.js';
import {
  applied,
  NOTHING_TO_APPLY,
  sourceOf,
  unknownReference,
  type NewFact,
  type OpenFact,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import type { ProviderEvent } from '../../core/provider-events/event.js';
import { readAttempt, type Charge } from './record.js';
import type { ChargeFact } from './facts.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { Charges } from './store.js';

/** Applies the events of payment providers to charges. Every attempt at a charge has a reference of its own. */
export const chargeEventHandler = ({
  charges: { store: charges, starter },
}: {
  charges: {
    store: Pick<Charges, 'find' | 'applyFact' | 'acknowledge'>;
    starter: Pick<WorkflowStarter<Charge>, 'notifyChangedSoon'>;
  };
}): ProviderEventHandler => ({
  port: 'payments',
  subjects: ['charge'],
  toFacts(event) {
    const { reference, about } = event as PaymentEvent;
    return about.subject === 'charge' ? [toStored(reference, about.state)] : [];
  },
  async apply(stored, event) {
    const attempt = stored.reference === null ? null : readAttempt(stored.reference);
    const charge = attempt && (await charges.find(attempt.id));
    // A provider reports its own payments only.
    if (!charge || charge.provider !== event.provider) {
      return unknownReference(stored.state.kind === 'succeeded');
    }
    const fact = toFact(stored, event, attempt.attempt);
    if (stored.state.kind === 'pending') {
      const of = { attempt: attempt.attempt };
      await charges.acknowledge(charge.tenant_id, charge._id, of);
    }
    const result = fact && (await charges.applyFact(charge, fact));
    starter.notifyChangedSoon(charge);
    if (!result) return NOTHING_TO_APPLY;
    return applied(result.kind === 'fact' ? result.verdict : result.kind);
  },
});

/** The method that a customer has left is a secret: it is kept only until it is applied. */
function toStored(reference: string, state: ChargeState): NewFact {
  const base = { subject: 'charge', reference } as const;
  const nothing = { kind: state.kind, amount_minor: null };
  switch (state.kind) {
    case 'succeeded': {
      const { amountMinor: amount_minor, currency, feeMinor: fee_minor, method } = state;
      const surcharge_minor = state.surchargeMinor;
      return {
        ...base,
        state: { ...nothing, amount_minor, currency, fee_minor, surcharge_minor },
        secret: method,
      };
    }
    case 'declined':
      return { ...base, state: { ...nothing, code: state.code, decline: state.decline } };
    default:
      return { ...base, state: nothing };
  }
}

function toFact(
  { state, secret }: OpenFact,
  event: ProviderEvent,
  attempt: number,
): ChargeFact | null {
  const source = sourceOf(event);
  switch (state.kind) {
    case 'succeeded':
      return {
        ...source,
        attempt,
        kind: 'succeeded',
        amountMinor: (state['amount_minor'] as bigint | null) ?? 0n,
        currency: String(state['currency']),
        feeMinor: state['fee_minor'] as bigint | null,
        surchargeMinor: (state['surcharge_minor'] as bigint | null) ?? 0n,
        method: secret as Extract<ChargeFact, { kind: 'succeeded' }>['method'],
      };
    case 'declined':
      return {
        ...source,
        attempt,
        kind: 'rejected',
        code: String(state['code']),
        decline: state['decline'] as 'soft' | 'hard',
      };
    case 'cancelled':
      return { ...source, attempt, kind: 'cancelled' };
    default:
      return null;
  }
}
