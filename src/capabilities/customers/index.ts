import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { customerOperations } from './api.js';
import { customerCounts } from './counts.js';
import { customers } from './record.js';
import { customerRoutes } from './routes.js';
import { createCustomers } from './store.js';

export { customerParams, IDENTITY_TAG } from './api.js';
export { customerId, knownCustomerId } from './schema.js';
export type { Customers } from './store.js';

/** The parts of customers. */
export type CustomerParts = ReturnType<typeof createCustomerParts>;

const createCustomerParts = ({ database }: CoreDeps) => ({ store: createCustomers(database) });

/** The capability `customers`: everybody whom a card, a payment token, a charge or a check names. */
export const customerCapability = defineCapability({
  name: 'customers',
  collections: [customers, customerCounts],
  operations: customerOperations,
  create: createCustomerParts,
  routes: customerRoutes,
});
