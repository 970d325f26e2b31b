/** The input of `cardAuthorization`. `taskQueue` is that of the calls to the issuer. */
export type AuthorizationRef = { tenantId: string; id: string; taskQueue?: string };

/**
 * The result of a check of the hold: whether it still exists, and when to check again if no event arrives. `verify`: the
 * issuer must be asked now what became of the payment.
 */
export type HoldResult = { held: false } | { held: true; nextCheckMs: number; verify?: boolean };

/** The id of the workflow that ends an authorization's hold. */
export const authorizationWorkflowId = (id: string) => `card-authorization/${id}`;
