import { rangeOf } from '../../platform/http/wire.js';
import type { Filter } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { customerRecordId, type Customer } from './customer.js';
import type { ListCustomersQuery } from './schema.js';

/** The store of customers. */
export type Customers = ReturnType<typeof createCustomers>;

/** Creates the store of customers. Commits create and change them; see `nameCustomer`. */
export function createCustomers({ db }: Database) {
  const collection = db.collection<Customer>('customers');
  return {
    /** By the tenant's own id. */
    get: (tenantId: string, customerId: string) =>
      collection.findOne({ _id: customerRecordId(tenantId, customerId), tenant_id: tenantId }),

    async list(tenantId: string, query: ListCustomersQuery) {
      const filter = listFilter(tenantId, query);
      const direction = query.sort === 'created_at' ? 1 : -1;
      const [items, total] = await Promise.all([
        collection
          .find(filter)
          .sort({ created_at: direction, _id: direction })
          .skip((query.page - 1) * query.limit)
          .limit(query.limit)
          .toArray(),
        collection.countDocuments(filter),
      ]);
      return { items, total };
    },
  };
}

function listFilter(tenantId: string, query: ListCustomersQuery): Filter<Customer> {
  const { customer_id, kyc_status } = query;
  const { from, until } = rangeOf(query);
  const created = { ...(from && { $gte: from }), ...(until && { $lt: until }) };
  return {
    tenant_id: tenantId,
    ...(customer_id !== undefined && { customer_id }),
    ...(kyc_status !== undefined && { kyc_statuses: kyc_status }),
    ...(Object.keys(created).length > 0 && { created_at: created }),
  };
}
