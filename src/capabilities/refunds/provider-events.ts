import type { Log } from '../../shared/log.js';
import type {
  PaymentEvent,
  Refund as ProviderRefund,
} from '../../core/providers/payment-provider.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import type {
  Applier,
  CallbackDraft,
  StoredCallback,
} from '../../core/provider-events/callbacks.js';
import { refundFactOf } from './provider-calls.js';
import type { Refund } from './refund.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { Refunds } from './store.js';

/** What a provider says about a refund, as it is kept. One that nobody ordered here goes by its charge. */
export const refundCallback = (
  { dedupeKey, charge, occurredAt }: PaymentEvent,
  { id, marker, amountMinor, currency, state }: ProviderRefund,
): CallbackDraft => ({
  subject: 'refund',
  dedupeKey,
  reference: marker ?? charge,
  state: {
    kind: state.kind,
    amount_minor: amountMinor,
    currency,
    refund: id,
    charge,
    code: state.kind === 'rejected' ? state.code : null,
  },
  occurredAt,
});

/** Applies what providers say of refunds, by the note that ours have. */
export function refundApplier(deps: {
  refunds: Pick<Refunds, 'find' | 'applyFact'>;
  refundStarter: Pick<WorkflowStarter<Refund>, 'notifyChangedSoon'>;
  log: Log;
}): Applier {
  const { refunds, refundStarter, log } = deps;
  return async (stored) => {
    const refund = await refunds.find(stored.reference);
    if (!refund || !isAbout(stored, refund)) {
      const { provider, _id: callback } = stored;
      log.warn({ provider, callback }, 'provider event ignored: unknown reference');
      return 'unknown_reference';
    }
    const fact = toFact(stored, refund);
    const applied = fact && (await refunds.applyFact(refund, fact));
    refundStarter.notifyChangedSoon(refund);
    if (!applied) return 'nothing_to_apply';
    return applied.kind === 'fact' ? applied.verdict : applied.kind;
  };
}

/** A provider speaks about its own payments only; a note of ours on another charge is somebody else's. */
const isAbout = ({ provider, state }: StoredCallback, refund: Refund) =>
  refund.provider === provider && refund.provider_charge_reference === state['charge'];

/** In another currency it is nothing to book: the provider is asked, and an operator called. */
function toFact({ _id, provider, state }: StoredCallback, refund: Refund): InstructionFact | null {
  if (state['currency'] !== refund.currency) return null;
  const kind = state['kind'] as ProviderRefund['state']['kind'];
  return refundFactOf(
    {
      id: String(state['refund']),
      amountMinor: state.amount_minor ?? 0n,
      state: kind === 'rejected' ? { kind, code: String(state['code']) } : { kind },
    },
    { via: 'webhook', actor: provider, providerRequestId: _id, note: null },
  );
}
