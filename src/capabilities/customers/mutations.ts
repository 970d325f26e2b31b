import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { customerRecordId, customers, type Customer } from './record.js';

/** A customer as a request names it. */
export type NamedCustomer = {
  /** The tenant's own id. */
  id: string;
  email: string | null;
  name: string | null;
  /** False for a request with a public key, which anybody can send: it adds a customer and changes none. */
  mayChange: boolean;
};

/** The record of a customer, for the reads of a mutation that names it. */
export const customerRef = (tenantId: string, customerId: string) =>
  customers.ref(customerRecordId(tenantId, customerId));

/**
 * Writes a customer in the commit of the record that names it: adds it, or changes its e-mail and name to those that the
 * request has. The mutation must read `customerRef`.
 */
export function nameCustomer(
  uow: UnitOfWork,
  tenantId: string,
  named: NamedCustomer,
  now: Date,
): Customer {
  const id = customerRecordId(tenantId, named.id);
  const known = uow.get(customers, id);
  if (!known) {
    const customer = newCustomer(tenantId, named, now);
    uow.create(customers, customer);
    return customer;
  }
  const email = (named.mayChange ? named.email : null) ?? known.email;
  const name = (named.mayChange ? named.name : null) ?? known.name;
  // An erased customer who is named again is a customer again, whose next erasure is an act of its own.
  const isSame = email === known.email && name === known.name && !known.erased_at;
  if (isSame) return known;
  const changed = {
    ...known,
    email,
    name,
    erased_at: null,
    version: known.version + 1,
    updated_at: now,
  };
  uow.change(customers, changed);
  return changed;
}

const newCustomer = (
  tenantId: string,
  { id, email, name }: NamedCustomer,
  now: Date,
): Customer => ({
  _id: customerRecordId(tenantId, id),
  tenant_id: tenantId,
  version: 1,
  customer_id: id,
  email,
  name,
  checks: {},
  kyc_statuses: ['not_started'],
  created_at: now,
  updated_at: now,
});
