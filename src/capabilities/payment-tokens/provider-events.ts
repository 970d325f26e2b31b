import type {
  PaymentEvent,
  SavedMethod,
  SetupState,
} from '../../core/providers/payment-provider.js';
import {
  applied,
  NOTHING_TO_APPLY,
  unknownReference,
  type NewFact,
  type OpenFact,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { PaymentToken } from './record.js';
import { readSetupReference, type SetupFact } from './setup.js';
import type { Tokens } from './store.js';

/** Applies the events of payment providers about pages on which a customer saves a payment method without paying. */
export const setupEventHandler = ({
  paymentTokens: { store: tokens, setups },
}: {
  paymentTokens: {
    store: Pick<Tokens, 'find' | 'withSetup' | 'applySetupFact'>;
    setups: Pick<WorkflowStarter<PaymentToken>, 'notifyChangedSoon'>;
  };
}): ProviderEventHandler => ({
  port: 'payments',
  subjects: ['setup'],
  toFacts(event) {
    const { reference, about } = event as PaymentEvent;
    return about.subject === 'setup' ? [toStored(reference, about.state)] : [];
  },
  async apply(stored, event) {
    const { reference } = stored;
    const page = reference === null ? null : readSetupReference(reference);
    // A provider may know a page by its own id alone.
    const known =
      page || reference === null ? null : await tokens.withSetup(event.provider, reference);
    const token = page ? await tokens.find(page.id) : known;
    // No money has moved. A provider reports its own pages only.
    if (!token || token.provider !== event.provider) return unknownReference(false);
    const fact = page && toFact(stored);
    if (!fact) {
      // Its provider is asked at once.
      setups.notifyChangedSoon(token);
      return NOTHING_TO_APPLY;
    }
    const after = await tokens.applySetupFact(token, page.number, fact);
    setups.notifyChangedSoon(token);
    return applied(after && after.version > token.version ? 'applied' : 'unchanged');
  },
});

/** The method that a customer has left is a secret: it is kept only until it is applied. */
function toStored(reference: string, state: SetupState): NewFact {
  const base = { subject: 'setup', reference } as const;
  const nothing = { kind: state.kind, amount_minor: null };
  switch (state.kind) {
    case 'saved':
      return { ...base, state: nothing, secret: state.method };
    case 'declined':
      return { ...base, state: { ...nothing, code: state.code } };
    case 'pending':
      return { ...base, state: nothing };
  }
}

function toFact({ state, secret }: OpenFact): SetupFact | null {
  if (state.kind === 'declined') return { kind: 'declined', code: String(state['code']) };
  if (state.kind !== 'saved' || secret === null) return null;
  return { kind: 'saved', method: secret as SavedMethod };
}
