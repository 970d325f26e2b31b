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
  /** The key of the sign-in; null if the issuer of OpenID Connect has vouched for the person. */
  keyId: string | null;
  /** Operators who had a hand in making the account or the key; see `lineOf`. */
  madeBy: readonly string[];
};

/** The operators who stand behind what this operator makes: the operator, and everybody who had a hand in the sign-in. */
export const lineOf = ({ id, madeBy }: Pick<Operator, 'id' | 'madeBy'>): string[] => [
  ...new Set([id, ...madeBy]),
];
