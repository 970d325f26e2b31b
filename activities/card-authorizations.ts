import type { AuthorizationRef } from '../src/capabilities/card-authorizations/workflow-contract.js';
import type { AuthorizationStore } from '../src/capabilities/card-authorizations/store.js';

/** Parts that the activity of card authorizations needs. */
export type CardAuthorizationActivityDeps = {
  cardAuthorizations: { store: Pick<AuthorizationStore, 'checkHold'> };
};

/** The activity of card authorizations. Its name is in histories, so it never changes. */
export const createCardAuthorizationActivities = (deps: CardAuthorizationActivityDeps) => ({
  /** Returns whether the authorization still holds money. Releases a hold whose time is over. Repeatable. */
  checkCardAuthorizationHold: (ref: AuthorizationRef) =>
    deps.cardAuthorizations.store.checkHold(ref),
});
