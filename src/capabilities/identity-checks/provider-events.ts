import {
  applied,
  NOTHING_TO_APPLY,
  sourceOf,
  unknownReference,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import type { IdentityEvent } from '../../core/providers/identity-provider.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { IdentityCheck } from './record.js';
import { checkFactOf } from './provider-calls.js';
import type { IdentityChecks } from './store.js';

/** Applies the events of identity providers to checks. */
export const identityCheckEventHandler = ({
  identityChecks: { store: checks, starter },
}: {
  identityChecks: {
    store: Pick<IdentityChecks, 'find' | 'applyFact' | 'acknowledge'>;
    starter: Pick<WorkflowStarter<IdentityCheck>, 'notifyChangedSoon'>;
  };
}): ProviderEventHandler => ({
  port: 'identity',
  subjects: ['identity_check'],
  toFacts(event) {
    const { reference, state } = event as IdentityEvent;
    const code = 'code' in state ? state.code : null;
    return [{ subject: 'identity_check', reference, state: { kind: state.kind, code } }];
  },
  async apply({ reference, state }, event) {
    const check = reference === null ? null : await checks.find(reference);
    // A provider reports its own checks only.
    if (check?.provider !== event.provider) return unknownReference(false);
    // Facts are stored as `toFacts` makes them.
    const fact = checkFactOf(state as unknown as IdentityEvent['state'], sourceOf(event));
    if (!fact) {
      await checks.acknowledge(check.tenant_id, check._id);
      return NOTHING_TO_APPLY;
    }
    const result = await checks.applyFact(check, fact);
    starter.notifyChangedSoon(check);
    return applied(result.kind === 'fact' ? result.verdict : result.kind);
  },
});
