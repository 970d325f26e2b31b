import type { PursuedRecord } from '../../pursuits/record.js';

/** A refund as it is stored. Amounts in kobo. Its gross amount is held in the wallet from acceptance to its end. */
export type Refund = PursuedRecord & {
  reference: string;
  /** Id and reference of the charge. */
  charge: string;
  charge_reference: string;
  /** The provider's reference of the attempt that was paid. */
  paid_as: string;
  amount_minor: bigint;
  currency: 'NGN';
  reason: string | null;
  /** The provider's own id of the refund, once it is known. */
  provider_refund: string | null;
  failure: { code: string; message: string } | null;
  in_suspense: boolean;
  completed_at: Date | null;
  reversed_at: Date | null;
};
