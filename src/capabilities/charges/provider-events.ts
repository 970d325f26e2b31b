import type { Log } from '../../shared/log.js';
import type { ChargeState, PaymentEvent } from '../../core/providers/payment-provider.js';
import type {
  Applier,
  CallbackDraft,
  StoredCallback,
} from '../../core/provider-events/callbacks.js';
import { readAttempt, type Charge } from './charge.js';
import type { ChargeFact } from './transitions.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { Charges } from './store.js';

/** What a provider says about a charge, as it is kept. An authorization is kept only until it is applied. */
export function chargeCallback(event: PaymentEvent, state: ChargeState): CallbackDraft {
  const { dedupeKey, charge: reference, occurredAt } = event;
  const base = { subject: 'charge', dedupeKey, reference, occurredAt } as const;
  const nothing = { kind: state.kind, amount_minor: null };
  switch (state.kind) {
    case 'succeeded': {
      const { amountMinor: amount_minor, currency, feeMinor: fee_minor, authorization } = state;
      return {
        ...base,
        state: { ...nothing, amount_minor, currency, fee_minor, secret: authorization },
      };
    }
    case 'rejected':
      return { ...base, state: { ...nothing, code: state.code, decline: state.decline } };
    default:
      return { ...base, state: nothing };
  }
}

/** Applies what providers say of charges: every attempt has a reference of its own. */
export function chargeApplier(deps: {
  charges: Pick<Charges, 'find' | 'applyFact'>;
  chargeStarter: Pick<WorkflowStarter<Charge>, 'notifyChangedSoon'>;
  log: Log;
}): Applier {
  const { charges, chargeStarter, log } = deps;
  return async (stored) => {
    const named = readAttempt(stored.reference);
    const charge = named && (await charges.find(named.id));
    // A provider speaks about its own payments only.
    if (!charge || charge.provider !== stored.provider) {
      const { provider, _id: callback } = stored;
      log.warn({ provider, callback }, 'provider event ignored: unknown reference');
      return 'unknown_reference';
    }
    const fact = toFact(stored, named.attempt);
    const applied = fact && (await charges.applyFact(charge, fact));
    chargeStarter.notifyChangedSoon(charge);
    if (!applied) return 'nothing_to_apply';
    return applied.kind === 'fact' ? applied.verdict : applied.kind;
  };
}

function toFact({ _id, provider, state }: StoredCallback, attempt: number): ChargeFact | null {
  const origin = { via: 'webhook', actor: provider, providerRequestId: _id, note: null } as const;
  switch (state.kind) {
    case 'succeeded':
      return {
        ...origin,
        attempt,
        kind: 'succeeded',
        amountMinor: state.amount_minor ?? 0n,
        currency: state.currency,
        feeMinor: state.fee_minor,
        authorization: (state.secret ?? null) as Extract<
          ChargeFact,
          { kind: 'succeeded' }
        >['authorization'],
      };
    case 'rejected':
      return { ...origin, attempt, kind: 'rejected', code: state.code, decline: state.decline };
    case 'abandoned':
      return { ...origin, attempt, kind: 'abandoned' };
    default:
      return null;
  }
}
