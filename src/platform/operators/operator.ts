/**
 * The roles of operators. `viewer` reads. `operator` does the daily work: records, tenants, keys, wallets, endpoints.
 * `approver` decides the requests of others. `admin` manages operators and maintains the ledger. Every role reads.
 */
export const OPERATOR_ROLES = ['viewer', 'operator', 'approver', 'admin'] as const;
/** The name of a role. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** An operator who has signed in. */
export type Operator = {
  id: string;
  name: string;
  roles: readonly OperatorRole[];
  /** The key of the sign-in. */
  keyId: string;
};
