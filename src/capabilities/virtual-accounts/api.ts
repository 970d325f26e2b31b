import { z } from 'zod';
import { timelineEntryResource } from '../../core/instructions/api-fields.js';
import { operation } from '../../platform/http/operation.js';
import { keyBody, pageQuery } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import {
  createVirtualAccountBody,
  exampleVirtualAccount,
  listVirtualAccountsQuery,
  virtualAccountResource,
} from './schema.js';

/** The tag of all operations on virtual accounts and deposits in the API reference. */
export const VIRTUAL_ACCOUNTS_TAG = 'Virtual accounts';
/** The path parameter of operations on one account. */
export const virtualAccountParams = { id: idSchema('virtualAccount') };

const tag = VIRTUAL_ACCOUNTS_TAG;
const feature = 'virtual_accounts';
const params = virtualAccountParams;

/** `POST /virtual-accounts`. */
export const createVirtualAccount = operation({
  id: 'createVirtualAccount',
  tag,
  method: 'post',
  path: '/virtual-accounts',
  summary: 'Create a virtual account',
  description:
    'A bank account of a customer of yours. It is `pending` until the provider has assigned it (`active`) or refused it ' +
    '(`failed`). Deposits on it are credited to your wallet.',
  feature,
  body: createVirtualAccountBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: virtualAccountResource },
  refusals: ['duplicate_reference', 'limit_exceeded'],
  examples: {
    body: {
      customer: { id: exampleVirtualAccount.customer_id, name: 'Ada Obi' },
      metadata: exampleVirtualAccount.metadata,
    },
    data: {
      ...exampleVirtualAccount,
      account_number: null,
      bank_name: null,
      bank_code: null,
      status: 'pending',
      total_received_minor: 0,
      reference: exampleVirtualAccount.id,
    },
  },
  links: { getVirtualAccount: 'id', getVirtualAccountTimeline: 'id', closeVirtualAccount: 'id' },
});

/** `GET /virtual-accounts`. */
export const listVirtualAccounts = operation({
  id: 'listVirtualAccounts',
  tag,
  method: 'get',
  path: '/virtual-accounts',
  summary: 'List virtual accounts',
  description: 'By page or by offset, which exclude each other.',
  feature,
  query: listVirtualAccountsQuery,
  answer: { status: 200, data: virtualAccountResource, list: true },
});

/** `GET /virtual-accounts/{id}`. */
export const getVirtualAccount = operation({
  id: 'getVirtualAccount',
  tag,
  method: 'get',
  path: '/virtual-accounts/{id}',
  summary: 'Get a virtual account',
  feature,
  params,
  answer: { status: 200, data: virtualAccountResource },
});

/** `POST /virtual-accounts/{id}/close`. */
export const closeVirtualAccount = operation({
  id: 'closeVirtualAccount',
  tag,
  method: 'post',
  path: '/virtual-accounts/{id}/close',
  summary: 'Close a virtual account',
  description:
    'The account is `closing` until the provider has closed it. Money that arrives from now on is not credited: it is ' +
    'suspended until one of our operators assigns or returns it. Closing a closed account changes nothing.',
  feature,
  params,
  body: keyBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: virtualAccountResource },
  refusals: ['not_found', 'invalid_state'],
  examples: { body: {} },
});

/** `GET /virtual-accounts/{id}/timeline`. */
export const getVirtualAccountTimeline = operation({
  id: 'getVirtualAccountTimeline',
  tag,
  method: 'get',
  path: '/virtual-accounts/{id}/timeline',
  summary: 'Get the timeline of a virtual account',
  description: 'Every step in order, with time, actor and the provider’s request id.',
  feature,
  params,
  query: z.strictObject(pageQuery(100)),
  answer: { status: 200, data: timelineEntryResource, list: true },
});

/** The operations on virtual accounts. */
export const virtualAccountOperations = {
  createVirtualAccount,
  listVirtualAccounts,
  getVirtualAccount,
  closeVirtualAccount,
  getVirtualAccountTimeline,
};
