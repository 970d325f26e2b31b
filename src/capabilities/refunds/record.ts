import { createHash } from 'node:crypto';
import {
  failureWith,
  freshSubmission,
  timelineEntry,
} from '../../core/instructions/instruction.js';
import { idOf, newId } from '../../shared/ids.js';
import { attemptReference, type Charge } from '../charges/record.js';
import { maskAccount } from '../deposits/record.js';
import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import type { HeldInstruction } from '../../core/instructions/held-instruction.js';

/** A refund as it is stored. Amounts in kobo. Its gross amount is held in the wallet from acceptance to its end. */
export type Refund = HeldInstruction & {
  /** The tenant's reference, unique among its refunds. Without one, the refund's id. */
  reference: string;
  /** Id and reference of the charge. */
  charge_id: string;
  charge_reference: string;
  /** The provider's reference of the attempt that was paid. */
  provider_charge_reference: string;
  /** The provider's own id of it, where it gave one. */
  provider_charge_handle: string | null;
  amount_minor: bigint;
  settled_amount_minor: bigint | null;
  currency: 'NGN';
  reason: string | null;
  /** The provider's own id of the refund, once it has given one. */
  provider_refund_id: string | null;
  /**
   * `provider`: it was made at the provider's own desk, and became a refund here by the provider's report. `operator`: it
   * returns a payment from suspense, and holds nothing in the wallet.
   */
  made_by: 'tenant' | 'provider' | 'operator';
  /** The customer's account for a refund that cannot reach the card, until the provider has it. Personal data. */
  customer_account?: { number: string; bank_code: string } | null;
};

/** The customer's account as people may see it: its last four digits and its bank. */
export const masked = ({ number, bank_code: bank }: NonNullable<Refund['customer_account']>) =>
  `${maskAccount(number)} at the bank ${bank}`;

/** The id of a refund that was made at the provider's desk: derived from the provider's id, so that a repeat finds it. */
export const deskRefundId = (provider: string, theirs: string): string =>
  idOf('refund', createHash('sha256').update(`${provider}/${theirs}`).digest());

/** The indexes of the list of refunds. Each has its complete sort order. */
export const REFUND_INDEXES = {
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byStatus: { tenant_id: 1, status: 1, created_at: -1, _id: -1 },
  byCharge: { tenant_id: 1, charge_reference: 1, created_at: -1, _id: -1 },
} as const;

/** The id of the workflow that executes a refund. */
export const refundWorkflowId = (id: string) => `refund/${id}`;

/** A failure with its message. An unknown code gets a general message. */
export const refundFailure = failureWith(
  {
    refund_refused: 'The provider refused the refund.',
    charge_not_paid: 'The provider has no payment to refund.',
    exceeds_charge: 'The provider has less left of the charge to refund.',
    reversed: 'The provider took the refund back.',
    operator: 'An operator ended this refund.',
  },
  'The provider did not refund.',
);

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
    ...Object.values(REFUND_INDEXES).map((key) => ({ key })),
    { key: { charge_id: 1, created_at: 1 } },
    ...supervisionIndexes,
  ],
  sealed: [{ path: 'customer_account.number' }],
});

/** The fields of a new refund that its creator chooses. */
export type NewRefund = {
  id?: string;
  /** Without it, the refund's id. */
  reference?: string | undefined;
  reason?: string | undefined;
};

/**
 * Builds the record of a refund with everything that does not depend on the commit. The number of the paid attempt
 * never changes.
 */
export function newRefund(
  charge: Charge,
  { id = newId('refund'), reference, reason }: NewRefund,
  now: Date,
): Omit<Refund, 'amount_minor'> {
  return {
    _id: id,
    tenant_id: charge.tenant_id,
    version: 1,
    event_sequence: 0,
    status: 'pending',
    provider: charge.provider,
    reference: reference ?? id,
    charge_id: charge._id,
    charge_reference: charge.reference,
    provider_charge_reference: attemptReference(charge),
    provider_charge_handle: charge.handle,
    currency: charge.currency,
    reason: reason ?? null,
    provider_refund_id: null,
    made_by: 'tenant',
    failure: null,
    in_suspense: false,
    ...freshSubmission(now),
    timeline: [
      timelineEntry(now, 'accepted', 'api', { detail: 'the amount is held in the wallet' }),
    ],
    created_at: now,
    updated_at: now,
    settled_amount_minor: null,
    completed_at: null,
    reversed_at: null,
  };
}
