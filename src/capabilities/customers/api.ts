import { operation } from '../../platform/http/operation.js';
import { customerResource, knownCustomerId, listCustomersQuery } from './schema.js';

/** The tag of all operations on customers and their checks in the API reference. */
export const IDENTITY_TAG = 'Identity';
/** The path parameter of operations on an existing customer. */
export const customerParams = { customer_id: knownCustomerId };

/** `GET /identity/customers`. */
export const listCustomers = operation({
  id: 'listCustomers',
  tag: IDENTITY_TAG,
  method: 'get',
  path: '/identity/customers',
  summary: 'List customers, newest first',
  description:
    'A customer exists as soon as a card, a payment token, a charge, a virtual account or an identity check names it.',
  feature: 'identity',
  query: listCustomersQuery,
  answer: { status: 200, data: customerResource, list: true },
});

/** `GET /identity/customers/{customer_id}`. */
export const getCustomer = operation({
  id: 'getCustomer',
  tag: IDENTITY_TAG,
  method: 'get',
  path: '/identity/customers/{customer_id}',
  summary: 'Get a customer',
  feature: 'identity',
  params: customerParams,
  answer: { status: 200, data: customerResource },
});

/** The operations on customers. */
export const customerOperations = { listCustomers, getCustomer };
