import type { TransferEvent } from '../../core/providers/transfer-provider.js';
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
import type { TransferFact } from './transitions.js';
import type { TransferStarter } from './workflow-starter.js';
import type { Transfers } from './store.js';

/** Applies the events of banks to transfers. */
export const transferEventHandler = ({
  transfers: { store: transfers, starter },
}: {
  transfers: {
    store: Pick<Transfers, 'ownerOf' | 'applyFact' | 'acknowledge'>;
    starter: Pick<TransferStarter, 'notifyChangedSoon'>;
  };
}): ProviderEventHandler => ({
  port: 'transfers',
  subjects: ['transfer'],
  toFacts: (event) => [toStored(event as TransferEvent)],
  async apply(stored, event) {
    const fact = toFact(stored, event);
    const { reference } = stored;
    if (!fact && stored.state.kind !== 'pending') return NOTHING_TO_APPLY;
    const owner = reference === null ? null : await transfers.ownerOf(reference);
    // A provider reports its own payments only.
    if (reference === null || owner?.provider !== event.provider) {
      return unknownReference(fact !== null && fact.kind !== 'rejected');
    }
    if (!fact) {
      await transfers.acknowledge(owner.tenant_id, reference);
      return NOTHING_TO_APPLY;
    }
    const result = await transfers.applyFact(owner.tenant_id, reference, fact);
    // An ended transfer that needs an operator now is started again at its next check.
    starter.notifyChangedSoon({ _id: reference });
    return applied(result.kind === 'fact' ? result.verdict : result.kind);
  },
});

const toStored = ({ reference, state }: TransferEvent): NewFact => ({
  subject: 'transfer',
  reference,
  state: {
    kind: state.kind,
    amount_minor: 'amountMinor' in state ? state.amountMinor : null,
    session_id: 'sessionId' in state ? state.sessionId : null,
    fee_minor: 'feeMinor' in state ? (state.feeMinor ?? null) : null,
    code: 'code' in state ? state.code : null,
  },
});

function toFact({ state }: OpenFact, event: ProviderEvent): TransferFact | null {
  const source = sourceOf(event);
  switch (state.kind) {
    case 'succeeded':
    case 'reversed': {
      const amountMinor = state['amount_minor'] as bigint | null;
      const sessionId = state['session_id'] as string | null;
      if (state.kind === 'reversed') return { ...source, kind: 'reversed', amountMinor, sessionId };
      // Missing in events that an earlier release has stored.
      const feeMinor = (state['fee_minor'] as bigint | null | undefined) ?? null;
      return { ...source, kind: 'succeeded', amountMinor, sessionId, feeMinor };
    }
    case 'rejected':
      return {
        ...source,
        kind: 'rejected',
        code: (state['code'] as string | null) ?? 'provider_declined',
      };
    default:
      return null;
  }
}
