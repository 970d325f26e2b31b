import type { AuthorizationRef } from '../src/capabilities/card-authorizations/workflow-contract.js';
import type { AuthorizationStore } from '../src/capabilities/card-authorizations/store.js';

export type CardAuthorizationActivityDeps = {
  authorizations: { store: Pick<AuthorizationStore, 'checkHold'> };
};

export const createCardAuthorizationActivities = (deps: CardAuthorizationActivityDeps) => ({
  /** Whether the payment still holds money; gives back a hold whose time is over. Repeatable without limit. */
  checkCardAuthorizationHold: (ref: AuthorizationRef) => deps.authorizations.store.checkHold(ref),
});
