/** The input of `cardAuthorization`. */
export type AuthorizationRef = { tenantId: string; id: string };

/** The result of a check of the hold: whether it still exists, and when to check again if no event arrives. */
export type HoldResult = { held: false } | { held: true; nextCheckMs: number };

/** The id of the workflow that ends an authorization's hold. */
export const authorizationWorkflowId = (id: string) => `card-authorization/${id}`;
