import { operation } from '../../platform/http/operation.js';
import { idSchema } from '../../shared/ids.js';
import { VIRTUAL_ACCOUNTS_TAG as tag, virtualAccountParams } from '../virtual-accounts/index.js';
import { depositResource, listAccountDepositsQuery, listDepositsQuery } from './schema.js';

const feature = 'virtual_accounts';

/** `GET /virtual-accounts/deposits`. */
export const listDeposits = operation({
  id: 'listDeposits',
  tag,
  method: 'get',
  path: '/virtual-accounts/deposits',
  summary: 'List deposits on all accounts',
  feature,
  query: listDepositsQuery,
  answer: { status: 200, data: depositResource, list: true },
});

/** `GET /virtual-accounts/deposits/{deposit_id}`. */
export const getDeposit = operation({
  id: 'getDeposit',
  tag,
  method: 'get',
  path: '/virtual-accounts/deposits/{deposit_id}',
  summary: 'Get a deposit',
  feature,
  params: { deposit_id: idSchema('deposit') },
  answer: { status: 200, data: depositResource },
});

/** `GET /virtual-accounts/{id}/deposits`. */
export const listVirtualAccountDeposits = operation({
  id: 'listVirtualAccountDeposits',
  tag,
  method: 'get',
  path: '/virtual-accounts/{id}/deposits',
  summary: 'List the deposits on an account',
  feature,
  params: virtualAccountParams,
  query: listAccountDepositsQuery,
  answer: { status: 200, data: depositResource, list: true },
});

/** The operations on deposits. */
export const depositOperations = { listDeposits, getDeposit, listVirtualAccountDeposits };
