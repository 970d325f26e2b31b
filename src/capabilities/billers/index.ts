import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { bankCapability } from '../banks/index.js';
import { billerOperations } from './api.js';
import { createBillCatalogue, createCustomerEnquiry } from './provider-calls.js';
import { billerRoutes } from './routes.js';

export type { BillCatalogue, CustomerEnquiry } from './provider-calls.js';
export { billerUnavailable, checkItemAmount, itemAmong, unknownCustomer } from './rules.js';
export { billCustomerFields, billerId, exampleBillCustomer } from './schema.js';

/** The parts of billers: the catalogue, and the enquiry about customers. */
export type BillerParts = ReturnType<typeof createBillerParts>;

const createBillerParts = ({ config, providers }: CoreDeps) => ({
  catalogue: createBillCatalogue(providers.forBills),
  enquire: createCustomerEnquiry(providers.forBills, config.transfers.nameEnquiryTimeoutMs),
});

/** The capability `billers`: the companies whose bills can be paid, and their customers. */
export const billerCapability = defineCapability({
  name: 'billers',
  servedBy: 'billpay',
  // The limit of answers about account holders counts those about customers of billers too.
  needs: { banks: bankCapability },
  operations: billerOperations,
  create: createBillerParts,
  routes: billerRoutes,
});
