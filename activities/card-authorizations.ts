import type { AuthorizationRef } from '../src/capabilities/card-authorizations/workflow-contract.js';
import type { AuthorizationStore } from '../src/capabilities/card-authorizations/store.js';

export type CardAuthorizationActivityDeps = {
  authorizations: { store: Pick<AuthorizationStore, 'checkHold'> };
};

export const createCardAuthorizationActivities = (deps: CardAuthorizationActivityDeps) => ({
  /** Checks whether the payment still holds money, and releases a hold that has expired. Repeats are safe. */
  checkCardAuthorizationHold: (ref: AuthorizationRef) => deps.authorizations.store.checkHold(ref),
});
