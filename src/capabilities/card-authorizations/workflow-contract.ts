/** Input of `cardAuthorization`. */
export type AuthorizationRef = { tenantId: string; id: string };

/** Whether the authorization still holds money, and after what time its workflow checks again if nothing changes. */
export type HoldResult = { held: false } | { held: true; nextCheckMs: number };
