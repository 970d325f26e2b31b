/** What crosses Temporal for authorizations. */
export type AuthorizationRef = { tenant: string; id: string };

/** Whether money is held for it, and when to look again if nothing is heard. */
export type HoldReport = { held: false } | { held: true; againInMs: number };
