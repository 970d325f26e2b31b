import { z } from 'zod';
import {
  amountMinor,
  idempotencyKey,
  pageQuery,
  timestamp,
  withDaysInOrder,
  ownName,
} from '../../platform/http/wire.js';
import {
  attentionField,
  failureField,
  instructionStatus,
} from '../../core/instructions/api-fields.js';
import { listFields } from '../../core/instructions/listing.js';
import { idSchema } from '../../shared/ids.js';
import { metadata } from '../../shared/metadata.js';
import { billCustomerFields, billerId, exampleBillCustomer } from '../billers/index.js';

/** The body of POST /billpay/payments. */
export const createBillPaymentBody = z
  .strictObject({
    ...billCustomerFields,
    amount_minor: z
      .int()
      .min(1)
      .meta({
        description: 'Amount in kobo: the price of the item, or an amount within its bounds.',
        example: 120_000,
        override: { minimum: 1, maximum: 500_000_000 },
      }),
    currency: z.literal('NGN').default('NGN'),
    reference: ownName(
      'Your own name of the payment, unique for ever. The default is its id.',
      'top-up-77',
    ).optional(),
    metadata: metadata.optional(),
    idempotency_key: idempotencyKey.optional(),
  })
  .meta({ id: 'NewBillPayment', description: 'A payment from your wallet to a biller.' });

/** The validated body of POST /billpay/payments. */
export type CreateBillPaymentBody = z.infer<typeof createBillPaymentBody>;

/** The query of GET /billpay/payments. Dates are UTC days, both inclusive. */
export const listBillPaymentsQuery = withDaysInOrder(
  z.strictObject({ ...listFields, biller_id: billerId.optional() }),
);

/** The query of GET /billpay/payments/{id}/timeline. The page is long enough for nearly every timeline. */
export const timelineQuery = z.strictObject(pageQuery(100));

/** The payment in the examples of the API. A test compares its fields with those of a real response. */
export const exampleBillPayment = {
  id: 'bil_01kaj2v6wte8v9kcz0t3yd4m5n',
  reference: 'top-up-77',
  ...exampleBillCustomer,
  customer_name: 'OLUWASEUN ABUBAKAR',
  amount_minor: 120_000,
  settled_amount_minor: null,
  fee_minor: 0,
  total_minor: 120_000,
  currency: 'NGN',
  status: 'completed',
  receipt: null,
  metadata: { order: '77' },
  provider: 'sandbox-bank',
  failure: null,
  attention: null,
  created_at: '2026-11-21T09:30:00.000Z',
  updated_at: '2026-11-21T09:30:02.000Z',
  completed_at: '2026-11-21T09:30:02.000Z',
  reversed_at: null,
};

const receipt = z
  .object({
    token: z.string().nullable().meta({
      description:
        'The token to enter into a prepaid meter. It is shown for one payment by its id, and by `Prefer: wait`; in lists and webhook events it is null. Null if the item gives none.',
    }),
    units: z.string().nullable().meta({ description: 'The units that it is worth.' }),
  })
  .nullable()
  .meta({ description: 'The biller’s receipt of a completed payment; null if there is none.' });

/** A bill payment as clients get it. */
export const billPaymentResource = z
  .object({
    id: idSchema('billPayment'),
    reference: z.string(),
    biller_id: z.string(),
    item_id: z.string(),
    customer_reference: z.string(),
    customer_name: z.string().nullable().meta({
      description:
        'Name of the customer, from the biller. Null if the biller did not answer in time, or tells none.',
    }),
    amount_minor: amountMinor('Amount in kobo that the biller gets.'),
    settled_amount_minor: amountMinor(
      'Amount in kobo that the biller has got, if it is not `amount_minor`; an operator has accepted it. A rest is in the wallet again.',
    ).nullable(),
    fee_minor: amountMinor('Fee in kobo.'),
    total_minor: amountMinor('Amount and fee in kobo, taken from the wallet.'),
    currency: z.literal('NGN'),
    status: instructionStatus,
    receipt,
    metadata: z.record(z.string(), z.unknown()),
    provider: z.string(),
    failure: failureField,
    attention: attentionField,
    created_at: timestamp('When it was accepted.'),
    updated_at: timestamp('When the payment last changed.'),
    completed_at: timestamp('When the biller’s confirmation was posted.').nullable(),
    reversed_at: timestamp('When the biller reversed the payment.').nullable(),
  })
  .meta({
    id: 'BillPayment',
    description: 'A payment from your wallet to a biller, with its state.',
    example: exampleBillPayment,
  });
