/** What crosses Temporal for authorizations. */
export type AuthorizationRef = { tenantId: string; id: string };

/** Whether money is held for it, and when to look again if nothing is heard. */
export type HoldResult = { held: false } | { held: true; againInMs: number };

export const authorizationWorkflowId = (id: string) => `card-authorization/${id}`;
