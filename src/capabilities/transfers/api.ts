import { z } from 'zod';
import { operation } from '../../platform/http/operation.js';
import { amountMinor, timestamp } from '../../platform/http/wire.js';
import { idSchema } from '../../shared/ids.js';
import {
  attentionField,
  failureField,
  instructionStatus,
  timelineEntryResource,
} from '../../core/instructions/api-fields.js';
import {
  bulkTransfersBody,
  createTransferBody,
  listTransfersQuery,
  resolveAccountBody,
  shortListQuery,
} from './schema.js';

const recipient = {
  recipient_account: z.string(),
  recipient_name: z
    .string()
    .nullable()
    .meta({ description: 'Name of the account holder, from the bank.' }),
  recipient_bank: z.string().nullable(),
  recipient_bank_code: z.string(),
};

const exampleRecipient = {
  recipient_account: '0123456789',
  recipient_name: 'OLUWASEUN MOHAMMED',
  recipient_bank: 'Guaranty Trust Bank',
  recipient_bank_code: '058',
};

const exampleTransfer = {
  id: 'trf_01kaj2v6wte8v9kcz0t3yd4m5n',
  amount_minor: 250_000,
  fee_minor: 1_000,
  total_minor: 251_000,
  ...exampleRecipient,
  status: 'completed',
  reference: 'invoice-1042',
  narration: 'Invoice 1042',
  session_id: '999999261121093002000000000042',
  currency: 'NGN',
  metadata: { order: '1042' },
  provider: 'sandbox-bank',
  failure: null,
  attention: null,
  created_at: '2026-11-21T09:30:00.000Z',
  updated_at: '2026-11-21T09:30:02.000Z',
  completed_at: '2026-11-21T09:30:02.000Z',
  reversed_at: null,
};

export const transferResource = z
  .object({
    id: idSchema('transfer'),
    amount_minor: amountMinor('Amount in kobo that the recipient gets.'),
    fee_minor: amountMinor('Kobo.'),
    total_minor: amountMinor('Amount and fee in kobo, taken from the wallet.'),
    ...recipient,
    status: instructionStatus,
    reference: z.string(),
    narration: z.string(),
    session_id: z
      .string()
      .nullable()
      .meta({ description: 'NIP session id of the bank; null until the bank has paid.' }),
    currency: z.literal('NGN'),
    metadata: z.record(z.string(), z.unknown()),
    provider: z.string(),
    failure: failureField,
    attention: attentionField,
    created_at: timestamp('When it was accepted.'),
    updated_at: timestamp('When the transfer last changed.'),
    completed_at: timestamp('When the bank’s payment was confirmed and posted.').nullable(),
    reversed_at: timestamp('When the bank reversed its payment.').nullable(),
  })
  .meta({ id: 'Transfer', example: exampleTransfer });

export const recipientResource = z
  .object(recipient)
  .meta({ id: 'Recipient', example: exampleRecipient });

export const bankResource = z
  .object({ code: z.string(), nip_code: z.string(), name: z.string() })
  .meta({
    id: 'Bank',
    example: { code: '058', nip_code: '000013', name: 'Guaranty Trust Bank' },
  });

const bulkTransferItem = z.object({
  index: z.int().min(0),
  reference: z.string().nullable(),
  id: idSchema('transfer').optional().meta({ description: 'Of the transfer, if accepted.' }),
  status: instructionStatus.optional(),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      field: z.string().optional(),
      details: z.record(z.string(), z.unknown()).optional(),
    })
    .optional()
    .meta({ description: 'Why this item was refused.' }),
});

const tally = z.int().min(0);

export const bulkTransferResource = z
  .object({
    id: idSchema('bulkTransfer'),
    status: z
      .enum(['processing', 'completed'])
      .meta({ description: '`completed` when every transfer of it is `completed` or `failed`.' }),
    counts: z.object({
      total: tally,
      accepted: tally,
      refused: tally,
      pending: tally,
      processing: tally,
      completed: tally,
      failed: tally,
    }),
    items: z.array(bulkTransferItem),
    created_at: timestamp('When it was taken.'),
  })
  .meta({ id: 'BulkTransfer' });

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
  items: [exampleItem(0, exampleTransfer.id), exampleItem(1, 'trf_01kaj2v6wte8v9kcz0t3yd4m5p')],
  created_at: exampleTransfer.created_at,
};

const tag = 'Transfers';
const params = { id: idSchema('transfer') };
const byId = { getTransfer: 'id', getTransferTimeline: 'id' };

/** A thousand items with short metadata. Who has more of it sends fewer at once. */
const MAX_BULK_BYTES = 1024 * 1024;

const { amount_minor, recipient_account, recipient_bank_code, narration } = exampleTransfer;
const exampleBody = {
  amount_minor,
  recipient_account,
  recipient_bank_code,
  narration,
  metadata: exampleTransfer.metadata,
};

export const createTransfer = operation({
  id: 'createTransfer',
  tag,
  method: 'post',
  path: '/transfers',
  summary: 'Create a transfer',
  description:
    'Sends money to a bank account. Amount and fee are held in the wallet. Every accepted transfer becomes ' +
    '`completed` or `failed`, also after crashes. While the bank does not answer, it is neither.',
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

export const listTransfers = operation({
  id: 'listTransfers',
  tag,
  method: 'get',
  path: '/transfers',
  summary: 'List transfers',
  query: listTransfersQuery,
  answer: { status: 200, data: transferResource, list: true },
});

export const getTransfer = operation({
  id: 'getTransfer',
  tag,
  method: 'get',
  path: '/transfers/{id}',
  summary: 'Get a transfer',
  params,
  answer: { status: 200, data: transferResource },
});

export const getTransferTimeline = operation({
  id: 'getTransferTimeline',
  tag,
  method: 'get',
  path: '/transfers/{id}/timeline',
  summary: 'Get the timeline of a transfer',
  description: 'Every step in order, with time, actor and the bank’s request id.',
  params,
  query: shortListQuery,
  answer: { status: 200, data: timelineEntryResource, list: true },
});

export const createBulkTransfer = operation({
  id: 'createBulkTransfer',
  tag,
  method: 'post',
  path: '/transfers/bulk',
  summary: 'Create a bulk transfer',
  description:
    'Up to 1,000 transfers in one request. Each item is accepted or refused by itself; the answer has the result of ' +
    'each.',
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

export const getBulkTransfer = operation({
  id: 'getBulkTransfer',
  tag,
  method: 'get',
  path: '/transfers/bulk/{id}',
  summary: 'Get a bulk transfer',
  params: { id: idSchema('bulkTransfer') },
  answer: { status: 200, data: bulkTransferResource },
});

export const resolveAccount = operation({
  id: 'resolveAccount',
  tag,
  method: 'post',
  path: '/transfers/resolve-account',
  summary: 'Resolve a bank account',
  description: 'A name enquiry at the bank. Creates nothing.',
  body: resolveAccountBody,
  safe: true,
  answer: { status: 200, data: recipientResource },
  refusals: ['invalid_account'],
  examples: { body: { recipient_account, recipient_bank_code }, data: exampleRecipient },
});

export const listBanks = operation({
  id: 'listBanks',
  tag,
  method: 'get',
  path: '/transfers/banks',
  summary: 'List banks',
  query: shortListQuery,
  answer: { status: 200, data: bankResource, list: true },
});

export const transferOperations = {
  createTransfer,
  listTransfers,
  getTransfer,
  getTransferTimeline,
  createBulkTransfer,
  getBulkTransfer,
  resolveAccount,
  listBanks,
};

export const transferEvents = {
  when: {
    'transfer.processing': 'a transfer is about to be sent to the bank',
    'transfer.completed': 'the bank has paid, and the hold is captured from the wallet',
    'transfer.failed': 'a transfer is proven to be unpaid, or an operator failed it',
    'transfer.reversed': 'the bank reversed a payment; amount and fee are in the wallet again',
  },
  data: transferResource,
};
