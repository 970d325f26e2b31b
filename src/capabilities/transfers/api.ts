import { operation } from '../../platform/http/operation.js';
import { idSchema } from '../../shared/ids.js';
import { timelineEntryResource } from '../../core/instructions/api-fields.js';
import {
  createTransferBody,
  exampleTransfer,
  listTransfersQuery,
  timelineQuery,
  transferResource,
} from './schema.js';

const tag = 'Transfers';
const params = { id: idSchema('transfer') };
const byId = { getTransfer: 'id', getTransferTimeline: 'id' };

const { amount_minor, recipient_account, recipient_bank_code, narration } = exampleTransfer;
const exampleBody = {
  amount_minor,
  recipient_account,
  recipient_bank_code,
  narration,
  metadata: exampleTransfer.metadata,
};

/** `POST /transfers`: accepts a transfer and holds its total in the wallet. */
export const createTransfer = operation({
  id: 'createTransfer',
  tag,
  method: 'post',
  path: '/transfers',
  summary: 'Create a transfer',
  description:
    'Sends money to a bank account. Amount and fee are held in the wallet. Every accepted transfer becomes ' +
    '`completed` or `failed`, also after a crash. While its outcome is unknown, it stays `processing`.',
  body: createTransferBody,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: transferResource },
  refusals: ['insufficient_balance', 'invalid_account', 'limit_exceeded', 'duplicate_reference'],
  examples: {
    body: exampleBody,
    data: {
      ...exampleTransfer,
      status: 'pending',
      reference: exampleTransfer.id,
      session_id: null,
      updated_at: exampleTransfer.created_at,
      completed_at: null,
    },
  },
  links: byId,
});

/** `GET /transfers`: lists the tenant's transfers. */
export const listTransfers = operation({
  id: 'listTransfers',
  tag,
  method: 'get',
  path: '/transfers',
  summary: 'List transfers',
  query: listTransfersQuery,
  answer: { status: 200, data: transferResource, list: true },
});

/** `GET /transfers/{id}`: returns one transfer. */
export const getTransfer = operation({
  id: 'getTransfer',
  tag,
  method: 'get',
  path: '/transfers/{id}',
  summary: 'Get a transfer',
  params,
  answer: { status: 200, data: transferResource },
});

/** `GET /transfers/{id}/timeline`: returns every step of a transfer, with its webhook deliveries. */
export const getTransferTimeline = operation({
  id: 'getTransferTimeline',
  tag,
  method: 'get',
  path: '/transfers/{id}/timeline',
  summary: 'Get the timeline of a transfer',
  description: 'Every step in order, with time, actor and the bank’s request id.',
  params,
  query: timelineQuery,
  answer: { status: 200, data: timelineEntryResource, list: true },
});

/** The operations of transfers, by id. */
export const transferOperations = {
  createTransfer,
  listTransfers,
  getTransfer,
  getTransferTimeline,
};
