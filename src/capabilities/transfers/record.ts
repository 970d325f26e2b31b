import { failureWith } from '../../core/instructions/instruction.js';
import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import { listIndexes } from '../../core/instructions/listing.js';
import type { OutgoingPayment } from '../../core/outgoing-payments/outgoing-payment.js';

/** The stored form of a transfer. Amounts are in kobo. */
export type Transfer = OutgoingPayment & {
  currency: 'NGN';
  recipient: { account: string; bank_code: string; name: string | null; bank: string | null };
  narration: string;
  session_id: string | null;
  metadata: Record<string, unknown> | null;
};

/** The status of a transfer, in the database and in the API. */
export type TransferStatus = Transfer['status'];

/** The id of the workflow that executes a transfer. */
export const transferWorkflowId = (id: string) => `transfer/${id}`;

/** Adds our message to the code of a failure. An unknown code stays as it is and gets a general message. */
export const failure = failureWith(
  {
    account_closed: 'The recipient account is closed.',
    no_such_account: 'The recipient account does not exist.',
    invalid_account: 'The recipient account was not found.',
    reversed: 'The payment was made and then reversed by the bank.',
    operator: 'An operator ended this transfer.',
  },
  'The bank refused the payment.',
);

const long = { bsonType: 'long' };

/** The collection of transfers. */
export const transfers = collection<Transfer>('transfers', {
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'version',
      'status',
      'amount_minor',
      'fee_minor',
      'total_minor',
      'submissions',
    ],
    properties: {
      tenant_id: { bsonType: 'string' },
      reference: { bsonType: 'string' },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      amount_minor: { ...long, minimum: 1 },
      fee_minor: { ...long, minimum: 0 },
      total_minor: { ...long, minimum: 1 },
      settled_amount_minor: { bsonType: ['long', 'null'], minimum: 1 },
      provider_fee_minor: { bsonType: ['long', 'null'], minimum: 0 },
      currency: { enum: ['NGN'] },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [...listIndexes, ...supervisionIndexes],
  sealed: [{ path: 'recipient.account' }, { path: 'recipient.name' }],
});
