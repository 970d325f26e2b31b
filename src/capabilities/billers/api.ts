import { operation } from '../../platform/http/operation.js';
import {
  billCategoryResource,
  billCustomerResource,
  billerId,
  billerResource,
  billItemResource,
  catalogueQuery,
  exampleBillCustomer,
  listBillersQuery,
  validateBillCustomerBody,
} from './schema.js';

const tag = 'Bill payments';
const feature = 'billpay';

/** `GET /billpay/categories`: lists the kinds of billers. */
export const listBillCategories = operation({
  id: 'listBillCategories',
  tag,
  feature,
  method: 'get',
  path: '/billpay/categories',
  summary: 'List categories of billers',
  query: catalogueQuery,
  answer: { status: 200, data: billCategoryResource, list: true },
});

/** `GET /billpay/billers`: lists the billers whose bills can be paid. */
export const listBillers = operation({
  id: 'listBillers',
  tag,
  feature,
  method: 'get',
  path: '/billpay/billers',
  summary: 'List billers',
  query: listBillersQuery,
  answer: { status: 200, data: billerResource, list: true },
});

/** `GET /billpay/billers/{biller_id}/items`: lists the items of a biller. */
export const listBillItems = operation({
  id: 'listBillItems',
  tag,
  feature,
  method: 'get',
  path: '/billpay/billers/{biller_id}/items',
  summary: 'List the items of a biller',
  params: { biller_id: billerId },
  query: catalogueQuery,
  answer: { status: 200, data: billItemResource, list: true },
});

/** `POST /billpay/validate`: asks a biller for the name of a customer. */
export const validateBillCustomer = operation({
  id: 'validateBillCustomer',
  tag,
  feature,
  method: 'post',
  path: '/billpay/validate',
  summary: 'Validate a customer of a biller',
  description: 'Asks the biller whether it knows the customer. Creates nothing.',
  body: validateBillCustomerBody,
  idempotent: true,
  safe: true,
  answer: { status: 200, data: billCustomerResource },
  refusals: ['not_found', 'invalid_account'],
  examples: {
    body: exampleBillCustomer,
    data: { ...exampleBillCustomer, customer_name: 'OLUWASEUN ABUBAKAR' },
  },
});

/** The operations of billers, by id. */
export const billerOperations = {
  listBillCategories,
  listBillers,
  listBillItems,
  validateBillCustomer,
};
