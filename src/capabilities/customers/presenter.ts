import type { z } from 'zod';
import { kycStatusOf, type Customer } from './record.js';
import type { customerResource } from './schema.js';

/** A customer as clients see it: every field is named here, so that a new stored field never leaks. */
export const presentCustomer = (customer: Customer): z.infer<typeof customerResource> => ({
  customer_id: customer.customer_id,
  email: customer.email,
  name: customer.name,
  kyc: {
    bvn: kycStatusOf(customer, 'bvn'),
    nin: kycStatusOf(customer, 'nin'),
    bank_account: kycStatusOf(customer, 'bank_account'),
  },
  created_at: customer.created_at.toISOString(),
  updated_at: customer.updated_at.toISOString(),
});
