import type { Log } from '../../shared/log.js';
import type { Callback } from '../../core/providers/transfer-provider.js';
import type {
  Applier,
  CallbackDraft,
  StoredCallback,
} from '../../core/provider-events/callbacks.js';
import type { TransferFact } from './transitions.js';
import type { TransferStarter } from './workflow-starter.js';
import type { Transfers } from './store.js';

/** What a bank says about a payment, as it is kept. */
export const transferCallback = ({
  dedupeKey,
  reference,
  state,
  occurredAt,
}: Callback): CallbackDraft => ({
  subject: 'transfer',
  dedupeKey,
  reference,
  state: {
    kind: state.kind,
    amount_minor: 'amountMinor' in state ? state.amountMinor : null,
    session_id: 'sessionId' in state ? state.sessionId : null,
    code: 'code' in state ? state.code : null,
  },
  occurredAt,
});

/** Applies what banks say of transfers. */
export function transferEventHandler(deps: {
  transfers: Pick<Transfers, 'ownerOf' | 'applyFact'>;
  starter: Pick<TransferStarter, 'notifyChangedSoon'>;
  log: Log;
}): Applier {
  const { transfers, starter, log } = deps;
  return async (stored) => {
    const fact = toFact(stored);
    if (!fact) return 'nothing_to_apply';
    const { reference, provider, _id: callback } = stored;
    const owner = await transfers.ownerOf(reference);
    // A provider speaks about its own payments only.
    if (owner?.provider !== provider) {
      log.warn({ provider, callback }, 'provider event ignored: unknown reference');
      return 'unknown_reference';
    }
    const applied = await transfers.applyFact(owner.tenant_id, reference, fact);
    // An ended transfer that needs an operator now is brought back by its due date.
    starter.notifyChangedSoon({ _id: reference });
    return applied.kind === 'fact' ? applied.verdict : applied.kind;
  };
}

function toFact({ _id, provider, state }: StoredCallback): TransferFact | null {
  const source = { via: 'webhook', actor: provider, providerRequestId: _id, note: null } as const;
  switch (state.kind) {
    case 'succeeded':
    case 'reversed':
      return {
        ...source,
        kind: state.kind,
        amountMinor: state.amount_minor,
        sessionId: state.session_id,
      };
    case 'rejected':
      return { ...source, kind: 'rejected', code: state.code ?? 'provider_declined' };
    default:
      return null;
  }
}
