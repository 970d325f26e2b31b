import type { AuthorizationRef } from '../src/cards/authorizations/reports.js';
import type { AuthorizationStore } from '../src/cards/authorizations/store.js';

export type CardAuthorizationActivityDeps = {
  authorizations: { store: Pick<AuthorizationStore, 'followHold'> };
};

export const createCardAuthorizationActivities = (deps: CardAuthorizationActivityDeps) => ({
  /** Whether the payment still holds money; gives back a hold whose time is over. Repeatable without limit. */
  followAuthorization: (ref: AuthorizationRef) => deps.authorizations.store.followHold(ref),
});
