import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { idSchema } from '../../shared/ids.js';
import { CHECK_TYPES } from '../../core/providers/identity-provider.js';
import { customerId, customerParams, IDENTITY_TAG } from '../customers/index.js';
import { checkResource, listChecksQuery, verifyCustomerBody } from './schema.js';

/** `POST /identity/customers/{customer_id}/kyc/{check_type}/verify`. */
export const verifyCustomer = operation({
  id: 'verifyCustomer',
  tag: IDENTITY_TAG,
  method: 'post',
  path: '/identity/customers/{customer_id}/kyc/{check_type}/verify',
  summary: 'Verify a customer',
  description:
    'Starts a check of the customer’s data by the identity provider; a customer that no request has named before is added. ' +
    'The number is sealed while the check runs and erased when it ends. A customer has at most one check of a type under ' +
    'way, and none of a type that is verified. At most 5 checks a minute for each customer.',
  access: 'admin',
  feature: 'identity',
  params: { customer_id: customerId, check_type: z.enum(CHECK_TYPES).meta({ example: 'bvn' }) },
  namesNew: true,
  body: verifyCustomerBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: checkResource },
  refusals: ['feature_not_enabled', 'invalid_state'],
  examples: { body: { number: '22212345678', first_name: 'Ada', last_name: 'Obi' } },
});

/** `GET /identity/customers/{customer_id}/kyc`. */
export const listIdentityChecks = operation({
  id: 'listIdentityChecks',
  tag: IDENTITY_TAG,
  method: 'get',
  path: '/identity/customers/{customer_id}/kyc',
  summary: 'List a customer’s checks, newest first',
  feature: 'identity',
  params: customerParams,
  query: listChecksQuery,
  answer: { status: 200, data: checkResource, list: true },
});

/** `GET /identity/customers/{customer_id}/kyc/{kyc_id}`. */
export const getIdentityCheck = operation({
  id: 'getIdentityCheck',
  tag: IDENTITY_TAG,
  method: 'get',
  path: '/identity/customers/{customer_id}/kyc/{kyc_id}',
  summary: 'Get a check',
  feature: 'identity',
  params: { ...customerParams, kyc_id: idSchema('identityCheck') },
  answer: { status: 200, data: checkResource },
});

/** The operations on identity checks. */
export const identityCheckOperations = { verifyCustomer, listIdentityChecks, getIdentityCheck };
