import { z } from 'zod';
import {
  pageQuery,
  timestamp,
  namedBy,
  ownName,
  daysQuery,
  withDaysInOrder,
} from '../../platform/http/wire.js';
import { KYC_STATUSES } from './record.js';

/** The tenant's id of a customer, in a request that adds the customer if it names a new one. */
export const customerId = ownName('Your own id of the customer.', 'customer-77');

/** The tenant's id of an existing customer. */
export const knownCustomerId = namedBy('Your own id of the customer.', 'customer-77');

/** The query of GET /identity/customers. Dates are UTC days, both inclusive. */
export const listCustomersQuery = withDaysInOrder(
  z.strictObject({
    ...pageQuery(),
    customer_id: knownCustomerId.optional(),
    kyc_status: z.enum(KYC_STATUSES).optional().meta({
      description:
        'Customers of whom the latest check of any type has this status. `not_started`: no check of any type was started.',
    }),
    ...daysQuery('its first request'),
    sort: z
      .enum(['created_at', '-created_at'])
      .default('-created_at')
      .meta({ description: 'A minus sorts in descending order.' }),
  }),
);

/** The validated query of GET /identity/customers. */
export type ListCustomersQuery = z.infer<typeof listCustomersQuery>;

/** The customer in the examples of the API reference. */
export const exampleCustomer = {
  customer_id: 'customer-77',
  email: 'ada@example.com',
  name: 'Ada Obi',
  kyc: { bvn: 'verified', nin: 'not_started', bank_account: 'not_started' },
  created_at: '2026-11-21T09:30:00.000Z',
  updated_at: '2026-11-21T09:31:00.000Z',
};

const kycStatus = z.enum(KYC_STATUSES);

/** A customer, as tenants get it. */
export const customerResource = z
  .object({
    customer_id: z.string().meta({ description: 'Your own id of the customer.' }),
    email: z.string().nullable(),
    name: z.string().nullable(),
    kyc: z.object({ bvn: kycStatus, nin: kycStatus, bank_account: kycStatus }).meta({
      description:
        'The status of the latest check of each type. `rejected`: the data do not match. `failed`: they could not be checked.',
    }),
    created_at: timestamp('When a request first named the customer.'),
    updated_at: timestamp('When the customer last changed.'),
  })
  .meta({
    id: 'IdentityCustomer',
    description: 'A customer of yours, with the latest identity check of each type.',
    example: exampleCustomer,
  });
