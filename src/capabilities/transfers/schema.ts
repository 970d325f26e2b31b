import { z } from 'zod';
import {
  amountMinor,
  idempotencyKey,
  pageQuery,
  withDaysInOrder,
  plainText,
  timestamp,
  ownName,
} from '../../platform/http/wire.js';
import { BELOW_MINIMUM } from '../../platform/tenants/tenant.js';
import { idSchema } from '../../shared/ids.js';
import { metadata } from '../../shared/metadata.js';
import {
  attentionField,
  failureField,
  instructionStatus,
} from '../../core/instructions/api-fields.js';
import { listFields } from '../../core/instructions/listing.js';
import {
  eitherRecipient,
  exampleRecipient,
  recipient,
  recipientFields,
  withRecipient,
} from '../banks/index.js';

const transferFields = {
  amount_minor: z
    .int()
    .min(1, BELOW_MINIMUM)
    .meta({
      description: 'Amount in kobo. The bounds are the defaults; your account may have others.',
      example: 250_000,
      override: { minimum: 100, maximum: 500_000_000 },
    }),
  ...recipientFields,
  narration: plainText(100).meta({
    description: 'Purpose of the transfer.',
    example: 'Invoice 1042',
  }),
  reference: ownName(
    'Your own name of the transfer, unique for ever. The default is its id.',
    'Invoice 1042',
  ).optional(),
  currency: z.literal('NGN').default('NGN'),
  metadata: metadata.optional(),
};

/** A transfer without an idempotency key: an item of a bulk transfer, whose key belongs to the whole request. */
export const transferBody = withRecipient(z.strictObject(transferFields));

/** A validated transfer, from `POST /transfers` or from an item of a bulk transfer. */
export type TransferBody = z.infer<typeof transferBody>;

/** The body of POST /transfers. */
export const createTransferBody = withRecipient(
  z.strictObject({ ...transferFields, idempotency_key: idempotencyKey.optional() }),
).meta({
  id: 'NewTransfer',
  description: 'A payment from your wallet to a bank account.',
  ...eitherRecipient,
});

/** The validated body of POST /transfers. */
export type CreateTransferBody = z.infer<typeof createTransferBody>;

/** The query of GET /transfers. Dates are UTC days, both inclusive. */
export const listTransfersQuery = withDaysInOrder(z.strictObject(listFields));

/** The query of GET /transfers/{id}/timeline. The page is long enough for nearly every timeline. */
export const timelineQuery = z.strictObject(pageQuery(100));

/** The transfer in the examples of the API. A test compares its fields with those of a real response. */
export const exampleTransfer = {
  id: 'trf_01kaj2v6wte8v9kcz0t3yd4m5n',
  amount_minor: 250_000,
  settled_amount_minor: null,
  fee_minor: 1_000,
  total_minor: 251_000,
  ...exampleRecipient,
  status: 'completed',
  reference: 'Invoice 1042',
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

/** A transfer as clients get it. */
export const transferResource = z
  .object({
    id: idSchema('transfer'),
    amount_minor: amountMinor('Amount in kobo that the recipient gets.'),
    settled_amount_minor: amountMinor(
      'Amount in kobo that the bank has paid, if it is not `amount_minor`; an operator has accepted it. A rest is in the wallet again.',
    ).nullable(),
    fee_minor: amountMinor('Fee in kobo.'),
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
  .meta({
    id: 'Transfer',
    description: 'A payment from your wallet to a bank account, with its state.',
    example: exampleTransfer,
  });
