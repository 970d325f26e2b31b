import { operation } from '../../platform/http/operation.js';
import { idSchema } from '../../shared/ids.js';
import { bulkTransferResource, bulkTransfersBody } from './schema.js';

/** Enough for a thousand items with short metadata. A client with longer items sends fewer of them in one request. */
const MAX_BULK_BYTES = 1024 * 1024;

const tag = 'Transfers';

const exampleBody = {
  amount_minor: 250_000,
  recipient_account: '0123456789',
  recipient_bank_code: '058',
  narration: 'Invoice 1042',
  metadata: { order: '1042' },
};
const exampleItem = (index: number, id: string) => ({
  index,
  reference: id,
  id,
  status: 'pending',
});
const exampleBulkTransfer = {
  id: 'btr_01kaj2v6wte8v9kcz0t3yd4m5n',
  status: 'processing',
  counts: {
    total: 2,
    accepted: 2,
    refused: 0,
    pending: 2,
    processing: 0,
    completed: 0,
    failed: 0,
  },
  items: [
    exampleItem(0, 'trf_01kaj2v6wte8v9kcz0t3yd4m5n'),
    exampleItem(1, 'trf_01kaj2v6wte8v9kcz0t3yd4m5p'),
  ],
  created_at: '2026-11-21T09:30:00.000Z',
};

/** `POST /transfers/bulk`: accepts or refuses each of up to a thousand transfers. */
export const createBulkTransfer = operation({
  id: 'createBulkTransfer',
  tag,
  method: 'post',
  path: '/transfers/bulk',
  summary: 'Create a bulk transfer',
  description:
    'Up to 1,000 transfers in one request. Each item is accepted or refused by itself, and the response has a result ' +
    'for each.',
  body: bulkTransfersBody,
  maxBodyBytes: MAX_BULK_BYTES,
  idempotent: true,
  waits: true,
  answer: { status: 201, data: bulkTransferResource },
  examples: {
    body: {
      transfers: [
        exampleBody,
        { ...exampleBody, amount_minor: 400_000, narration: 'Invoice 1043' },
      ],
    },
    data: exampleBulkTransfer,
  },
  links: { getBulkTransfer: 'id' },
});

/** `GET /transfers/bulk/{id}`: returns a bulk transfer with the present status of each item. */
export const getBulkTransfer = operation({
  id: 'getBulkTransfer',
  tag,
  method: 'get',
  path: '/transfers/bulk/{id}',
  summary: 'Get a bulk transfer',
  params: { id: idSchema('bulkTransfer') },
  answer: { status: 200, data: bulkTransferResource },
});

/** The operations of bulk transfers, by id. */
export const bulkTransferOperations = { createBulkTransfer, getBulkTransfer };
