import { z } from 'zod';
import { isId } from '../../../shared/ids.js';
import {
  amount,
  currency,
  domain,
  numericId,
  optionalId,
  reference,
  text,
  time,
  word,
} from './fields.js';
import { chargeReferences } from './references.js';

const refundedTransaction = z
  .union([
    z.looseObject({ id: optionalId, reference: reference.nullish().catch(null) }),
    numericId.transform((id) => ({ id, reference: null })),
  ])
  .nullish()
  .catch(null);

/**
 * A refund. Its `id` is a number, a string or absent; its `transaction` is an object or a number; `fully_deducted` has
 * three forms and is not read.
 */
export const refundData = z.looseObject({
  id: optionalId,
  status: word,
  amount,
  currency: currency.nullish().catch(null),
  domain,
  transaction: refundedTransaction,
  transaction_reference: reference.nullish().catch(null),
  merchant_note: text,
  dispute: z
    .union([z.looseObject({ id: numericId }), numericId])
    .nullish()
    .catch(null),
  createdAt: time,
  created_at: time,
  updatedAt: time,
  updated_at: time,
});

/** The parts of a refund that tell which one it is, also of one that cannot be read as a whole. */
export const refundNames = refundData
  .pick({ transaction: true, transaction_reference: true, merchant_note: true, dispute: true })
  .catch({});

/** A parsed refund. */
export type RefundData = z.infer<typeof refundData>;

/** The status words of a refund. The money of `needs-attention` waits for an account of the customer. */
export const STATUSES = {
  pending: 'pending',
  processing: 'pending',
  processed: 'succeeded',
  failed: 'rejected',
  'needs-attention': 'needs_account',
} as const;

/** The reference of the refunded transaction, in Paystack's form, if the refund names it. */
export const transactionOf = (refund: Partial<RefundData>) => ({
  reference: refund.transaction_reference ?? refund.transaction?.reference ?? null,
  id: refund.transaction?.id ?? null,
});

/** The words of a note, one of which may be our marker. */
export const wordsIn = (note: string | null | undefined): string[] =>
  (note ?? '').split(/[^0-9a-z_]+/);

/** Our marker as a whole word of the note, or null: the refund was made elsewhere. */
export const markerIn = (note: string | null | undefined): string | null =>
  wordsIn(note).find((each) => isId('refund', each)) ?? null;

/** The number of the dispute whose money the refund is, or null. */
export const disputeIn = ({ dispute }: Partial<RefundData>): string | null =>
  typeof dispute === 'object' ? (dispute?.id ?? null) : (dispute ?? null);

/** The refund in our terms; null if its status word is not in the table. */
export function refundOf(refund: RefundData, charge: string) {
  if (!Object.hasOwn(STATUSES, refund.status)) return null;
  return {
    id: refund.id ?? null,
    marker: markerIn(refund.merchant_note),
    charge: { reference: charge, handle: transactionOf(refund).id },
    dispute: disputeIn(refund),
    amountMinor: refund.amount,
    currency: refund.currency ?? 'NGN',
    state: STATUSES[refund.status as keyof typeof STATUSES],
  };
}

/** Our reference of the refunded charge, if the refund names it and the charge is ours. */
export const chargeOf = (refund: RefundData): string | null => {
  const { reference: theirs } = transactionOf(refund);
  return theirs === null ? null : chargeReferences.toOurs(theirs);
};
