import { createHash } from 'node:crypto';
import { collection } from '../../core/commit/collection.js';
import { CHECK_TYPES, type CheckType } from '../../core/providers/identity-provider.js';
import { idOf } from '../../shared/ids.js';

/** The statuses of an identity check, as tenants see them. */
export const CHECK_STATUSES = ['pending', 'verified', 'rejected', 'failed'] as const;
/** `rejected`: the data do not match. `failed`: they could not be checked. */
export type CheckStatus = (typeof CHECK_STATUSES)[number];

/** The statuses of a customer's checks of one type: that of the latest check, if there is one. */
export const KYC_STATUSES = ['not_started', ...CHECK_STATUSES] as const;
/** A status of a customer's checks of one type. */
export type KycStatus = (typeof KYC_STATUSES)[number];

/** The latest check of a type. */
type LatestCheck = { id: string; status: CheckStatus };

/** A customer of a tenant, written when a request first names it. E-mail and name are personal data. */
export type Customer = {
  _id: string;
  tenant_id: string;
  version: number;
  /** The tenant's own id, unique among its customers. */
  customer_id: string;
  email: string | null;
  name: string | null;
  /** Types without a check are absent. */
  checks: Partial<Record<CheckType, LatestCheck>>;
  /** The statuses by which the list finds the customer: those of its latest checks, or `not_started` alone. */
  kyc_statuses: KycStatus[];
  created_at: Date;
  updated_at: Date;
  /** Its personal data was erased, and no request has named it since. Absent or null otherwise. */
  erased_at?: Date | null;
};

/** The id of a customer's record, derived from the tenant's id of it: two requests that name it at once collide. */
export const customerRecordId = (tenantId: string, customerId: string): string =>
  idOf('customer', createHash('sha256').update(`${tenantId}/${customerId}`).digest());

/** Returns the status of the customer's checks of one type. */
export const kycStatusOf = ({ checks }: Pick<Customer, 'checks'>, type: CheckType): KycStatus =>
  checks[type]?.status ?? 'not_started';

/** The customer with another latest check of a type. */
export function withCheck(
  customer: Customer,
  type: CheckType,
  latest: LatestCheck,
  now: Date,
): Customer {
  const checks = { ...customer.checks, [type]: latest };
  const statuses = CHECK_TYPES.flatMap((each) => checks[each]?.status ?? []);
  return {
    ...customer,
    checks,
    kyc_statuses: [...new Set(statuses)],
    version: customer.version + 1,
    updated_at: now,
  };
}

const string = { bsonType: 'string' };

/** The indexes of the list. Each has its complete sort order. */
export const CUSTOMER_INDEXES = {
  byId: { tenant_id: 1, customer_id: 1 },
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byStatus: { tenant_id: 1, kyc_statuses: 1, created_at: -1, _id: -1 },
} as const;

/** The collection of customers. */
export const customers = collection<Customer>('customers', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'customer_id', 'checks', 'kyc_statuses', 'created_at'],
    properties: {
      tenant_id: string,
      customer_id: string,
      email: { bsonType: ['string', 'null'] },
      name: { bsonType: ['string', 'null'] },
      kyc_statuses: { bsonType: 'array', items: { enum: [...KYC_STATUSES] } },
      version: { bsonType: 'int' },
      created_at: { bsonType: 'date' },
    },
  },
  indexes: [
    { key: CUSTOMER_INDEXES.byId, unique: true },
    { key: CUSTOMER_INDEXES.byCreation },
    { key: CUSTOMER_INDEXES.byStatus },
  ],
  sealed: [{ path: 'email' }, { path: 'name' }],
});
