import { timelineEntryResource } from '../../core/instructions/api-fields.js';
import { operation } from '../../platform/http/operation.js';
import { idSchema } from '../../shared/ids.js';
import { exampleBillCustomer } from '../billers/index.js';
import {
  billPaymentResource,
  createBillPaymentBody,
  exampleBillPayment,
  listBillPaymentsQuery,
  timelineQuery,
} from './schema.js';

const tag = 'Bill payments';
const feature = 'billpay';
const params = { id: idSchema('billPayment') };

/** `POST /billpay/payments`: accepts a bill payment and holds its total in the wallet. */
export const createBillPayment = operation({
  id: 'createBillPayment',
  tag,
  feature,
  method: 'post',
  path: '/billpay/payments',
  summary: 'Pay a bill',
  description:
    'Pays a bill of a customer. Amount and fee are held in the wallet. Every accepted payment becomes `completed` or ' +
    '`failed`, also after a crash. While its outcome is unknown, it stays `processing`. The amount counts towards the ' +
    'daily limit of transfers.',
  body: createBillPaymentBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: billPaymentResource },
  refusals: [
    'not_found',
    'insufficient_balance',
    'invalid_account',
    'limit_exceeded',
    'duplicate_reference',
  ],
  examples: {
    body: {
      ...exampleBillCustomer,
      amount_minor: exampleBillPayment.amount_minor,
      metadata: exampleBillPayment.metadata,
    },
    data: {
      ...exampleBillPayment,
      status: 'pending',
      reference: exampleBillPayment.id,
      updated_at: exampleBillPayment.created_at,
      completed_at: null,
    },
  },
  links: { getBillPayment: 'id', getBillPaymentTimeline: 'id' },
});

/** `GET /billpay/payments`: lists the tenant's bill payments. */
export const listBillPayments = operation({
  id: 'listBillPayments',
  tag,
  feature,
  method: 'get',
  path: '/billpay/payments',
  summary: 'List bill payments',
  description: 'Receipts are listed without their tokens.',
  query: listBillPaymentsQuery,
  answer: { status: 200, data: billPaymentResource, list: true },
});

/** `GET /billpay/payments/{id}`: returns one bill payment with the token of its receipt. */
export const getBillPayment = operation({
  id: 'getBillPayment',
  tag,
  feature,
  method: 'get',
  path: '/billpay/payments/{id}',
  summary: 'Get a bill payment',
  params,
  answer: { status: 200, data: billPaymentResource },
});

/** `GET /billpay/payments/{id}/timeline`: returns every step of a bill payment, with its webhook deliveries. */
export const getBillPaymentTimeline = operation({
  id: 'getBillPaymentTimeline',
  tag,
  feature,
  method: 'get',
  path: '/billpay/payments/{id}/timeline',
  summary: 'Get the timeline of a bill payment',
  description: 'Every step in order, with time, actor and the biller’s request id.',
  params,
  query: timelineQuery,
  answer: { status: 200, data: timelineEntryResource, list: true },
});

/** The operations of bill payments, by id. */
export const billPaymentOperations = {
  createBillPayment,
  listBillPayments,
  getBillPayment,
  getBillPaymentTimeline,
};
