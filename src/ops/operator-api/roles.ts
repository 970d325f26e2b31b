import { OPERATOR_ROLES, type OperatorRole } from '../../platform/operators/operator.js';

/** Every operator may read. */
export const READERS: readonly OperatorRole[] = OPERATOR_ROLES;
/** The daily work: records, tenants, keys, wallets and endpoints. */
export const WORKERS: readonly OperatorRole[] = ['operator', 'admin'];
/** The second person of an act. */
export const APPROVERS: readonly OperatorRole[] = ['approver'];
/** Accounts of operators, and the maintenance of the ledger. */
export const ADMINS: readonly OperatorRole[] = ['admin'];
