import { attentionIndex, nextCheckIndex } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import type { HeldInstruction } from '../../core/instructions/held-transitions.js';

/** A refund as it is stored. Amounts in kobo. Its gross amount is held in the wallet from acceptance to its end. */
export type Refund = HeldInstruction & {
  /** The tenant's reference, unique among its refunds. Without one, the refund's id. */
  reference: string;
  /** Id and reference of the charge. */
  charge_id: string;
  charge_reference: string;
  /** The provider's reference of the attempt that was paid. */
  provider_charge_reference: string;
  amount_minor: bigint;
  currency: 'NGN';
  reason: string | null;
  /** The provider's own id of the refund, once it has refunded. */
  provider_refund_id: string | null;
};

/** The id of the workflow that executes a refund. */
export const refundWorkflowId = (id: string) => `refund/${id}`;

const FAILURES: Record<string, string> = {
  refund_refused: 'The provider refused the refund.',
  charge_not_paid: 'The provider has no payment to refund.',
  exceeds_charge: 'The provider has less left of the charge to refund.',
  reversed: 'The provider took the refund back.',
  operator: 'An operator ended this refund.',
};

/** A failure with its message. An unknown code gets a general message. */
export const refundFailure = (code: string) => ({
  code,
  message: FAILURES[code] ?? 'The provider did not refund.',
});

const long = { bsonType: 'long' };
const string = { bsonType: 'string' };
const statuses = { enum: ['pending', 'processing', 'completed', 'failed'] };

/** The collection of refunds. */
export const refunds = collection<Refund>('refunds', {
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'version',
      'status',
      'reference',
      'charge_id',
      'amount_minor',
      'submissions',
    ],
    properties: {
      tenant_id: string,
      reference: string,
      charge_id: string,
      status: statuses,
      amount_minor: { ...long, minimum: 1 },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, reference: 1 }, unique: true },
    { key: { charge_id: 1, created_at: 1 } },
    nextCheckIndex,
    attentionIndex,
  ],
});
