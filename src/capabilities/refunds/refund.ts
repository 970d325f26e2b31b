import type { HeldInstruction } from '../../core/instructions/held-transitions.js';

/** A refund as it is stored. Amounts in kobo. Its gross amount is held in the wallet from acceptance to its end. */
export type Refund = HeldInstruction & {
  /** The tenant's name for it, unique among its refunds; its own id where none was given. */
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

/** The workflow that keeps this promise. */
export const refundWorkflowId = (id: string) => `refund/${id}`;

const FAILURES: Record<string, string> = {
  refund_refused: 'The provider refused the refund.',
  charge_not_paid: 'The provider has no payment to refund.',
  exceeds_charge: 'The provider has less left of the charge to refund.',
  reversed: 'The provider took the refund back.',
  operator: 'An operator ended this refund.',
};

/** A failure with our own words for its code; a code that we do not know is still told as it is. */
export const refundFailure = (code: string) => ({
  code,
  message: FAILURES[code] ?? 'The provider did not refund.',
});
