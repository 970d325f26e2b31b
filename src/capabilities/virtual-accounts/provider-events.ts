import type {
  AccountEvent,
  AccountFace,
  AccountState,
} from '../../core/providers/account-provider.js';
import {
  applied,
  NOTHING_TO_APPLY,
  sourceOf,
  unknownReference,
  type NewFact,
  type OpenFact,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import { factOf } from './provider-calls.js';
import type { VirtualAccounts } from './store.js';
import type { VirtualAccount } from './record.js';

type Deps = {
  virtualAccounts: {
    store: Pick<VirtualAccounts, 'find' | 'applyFact' | 'acknowledge'>;
    starter: { notifyChangedSoon(account: VirtualAccount): void };
  };
};

/** Applies the events of providers to virtual accounts. The reference of an account is our id. */
export const virtualAccountEventHandler = ({
  virtualAccounts: { store, starter },
}: Deps): ProviderEventHandler => ({
  port: 'accounts',
  subjects: ['account'],
  toFacts(event) {
    const { about } = event as AccountEvent;
    return about.subject === 'account' ? [toStored(about.reference, about.state)] : [];
  },
  async apply(fact, event) {
    const account = fact.reference === null ? null : await store.find(fact.reference);
    if (account?.provider !== event.provider) return unknownReference(false);
    const state = fromStored(fact);
    const known = state && factOf(state, sourceOf(event));
    if (state?.kind === 'pending') await store.acknowledge(account.tenant_id, account._id);
    const result = known && (await store.applyFact(account, known));
    starter.notifyChangedSoon(account);
    if (!result) return NOTHING_TO_APPLY;
    return applied(result.kind === 'fact' ? result.verdict : result.kind);
  },
});

/** The number and the names of an account are sealed. */
const toStored = (reference: string, state: AccountState): NewFact => {
  if (state.kind !== 'assigned') return { subject: 'account', reference, state };
  const { kind, ...face } = state;
  return { subject: 'account', reference, state: { kind }, secret: face };
};

/** A replay of an applied event has no secret any more, and then decides nothing. */
function fromStored({ state, secret }: OpenFact): AccountState | null {
  const { kind } = state;
  if (kind === 'assigned') return secret && { kind, ...(secret as AccountFace) };
  if (kind === 'rejected') return { kind, code: String(state['code']) };
  return kind === 'closed' || kind === 'pending' ? { kind } : null;
}
