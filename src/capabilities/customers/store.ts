import { rangeOf } from '../../platform/http/wire.js';
import type { ClientSession, Filter } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { countCustomers } from './counts.js';
import { CUSTOMER_INDEXES, customerRecordId, type Customer } from './record.js';
import type { ListCustomersQuery } from './schema.js';

/** The store of customers. */
export type Customers = ReturnType<typeof createCustomers>;

/** Creates the store of customers. Commits create and change them; see `nameCustomer`. */
export function createCustomers({ db }: Database, clock: () => Date = () => new Date()) {
  const collection = db.collection<Customer>('customers');
  return {
    /** By the tenant's own id. */
    get: (tenantId: string, customerId: string) =>
      collection.findOne({ _id: customerRecordId(tenantId, customerId), tenant_id: tenantId }),

    /** By the record's id, which the audit log has. */
    getById: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** Erases the personal data of the record itself. */
    async erase({ _id, tenant_id }: Customer, now: Date, session: ClientSession): Promise<void> {
      await collection.updateOne(
        { _id, tenant_id },
        { $set: { email: null, name: null, erased_at: now }, $inc: { version: 1 } },
        { session },
      );
    },

    async list(tenantId: string, query: ListCustomersQuery) {
      const filter = listFilter(tenantId, query);
      const hint = indexOf(query);
      const direction = query.sort === 'created_at' ? 1 : -1;
      const [items, total] = await Promise.all([
        collection
          .find(filter, { hint })
          .sort({ created_at: direction, _id: direction })
          .skip((query.page - 1) * query.limit)
          .limit(query.limit)
          .toArray(),
        hint === CUSTOMER_INDEXES.byCreation
          ? countCustomers(db, tenantId, rangeOf(query), clock())
          : collection.countDocuments(filter, { hint }),
      ]);
      return { items, total };
    },
  };
}

/** Only a list by id or by status of checks is counted one by one. */
function indexOf({ customer_id: id, kyc_status: status }: ListCustomersQuery): object {
  if (id !== undefined) return CUSTOMER_INDEXES.byId;
  return status === undefined ? CUSTOMER_INDEXES.byCreation : CUSTOMER_INDEXES.byStatus;
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
