import { failureWith } from '../../core/instructions/instruction.js';
import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import { listIndexes } from '../../core/instructions/listing.js';
import type { OutgoingPayment } from '../../core/outgoing-payments/outgoing-payment.js';

/** The receipt of a payment as it is stored. The token is worth the money, so it is sealed for its record. */
export type StoredReceipt = { sealed_token: string | null; units: string | null };

/** The stored form of a bill payment. Amounts are in kobo. */
export type BillPayment = OutgoingPayment & {
  currency: 'NGN';
  biller_id: string;
  item_id: string;
  customer_reference: string;
  /** Null if the biller did not answer before acceptance, or tells no names. */
  customer_name: string | null;
  /** True if the biller gives a token for the payment. */
  gives_token: boolean;
  receipt: StoredReceipt | null;
  metadata: Record<string, unknown> | null;
};

/** The id of the workflow that executes a bill payment. */
export const billPaymentWorkflowId = (id: string) => `bill-payment/${id}`;

/** The place at which the token of a payment is sealed. */
export const tokenPlace = (id: string) => ({ record: id, field: 'receipt.token' });

/** Adds our message to the code of a failure. An unknown code stays as it is and gets a general message. */
export const billFailure = failureWith(
  {
    invalid_account: 'The biller does not know the customer.',
    reversed: 'The payment was made and then reversed by the biller.',
    operator: 'An operator ended this payment.',
  },
  'The biller refused the payment.',
);

/** The index of the list by biller. */
export const BY_BILLER = { tenant_id: 1, biller_id: 1, created_at: -1, _id: -1 } as const;

const long = { bsonType: 'long' };
const string = { bsonType: 'string' };

/** The collection of bill payments. */
export const billPayments = collection<BillPayment>('bill_payments', {
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'version',
      'status',
      'reference',
      'biller_id',
      'amount_minor',
      'fee_minor',
      'total_minor',
      'submissions',
    ],
    properties: {
      tenant_id: string,
      reference: string,
      biller_id: string,
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      amount_minor: { ...long, minimum: 1 },
      fee_minor: { ...long, minimum: 0 },
      total_minor: { ...long, minimum: 1 },
      settled_amount_minor: { bsonType: ['long', 'null'], minimum: 1 },
      currency: { enum: ['NGN'] },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [...listIndexes, { key: BY_BILLER }, ...supervisionIndexes],
  sealed: [
    { path: 'customer_reference' },
    { path: 'customer_name' },
    { path: 'receipt.sealed_token', place: 'receipt.token', byOwner: true },
  ],
});
