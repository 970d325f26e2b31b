import { operation } from '../../platform/http/operation.js';
import { idSchema } from '../../shared/ids.js';
import { disputeResource, listDisputesQuery } from './schema.js';

const tag = 'Payments';

/** Lists disputes. */
export const listDisputes = operation({
  id: 'listDisputes',
  tag,
  method: 'get',
  path: '/payments/disputes',
  summary: 'List disputes of charges',
  description:
    'A customer’s bank demands the money of a charge back. The amount is taken from the wallet when the dispute is ' +
    'opened, and returns to it when the dispute is won.',
  query: listDisputesQuery,
  answer: { status: 200, data: disputeResource, list: true },
});

/** Shows a dispute. */
export const getDispute = operation({
  id: 'getDispute',
  tag,
  method: 'get',
  path: '/payments/disputes/{id}',
  summary: 'Get a dispute of a charge',
  params: { id: idSchema('dispute') },
  answer: { status: 200, data: disputeResource },
});

/** The operations on disputes. */
export const disputeOperations = { listDisputes, getDispute };
