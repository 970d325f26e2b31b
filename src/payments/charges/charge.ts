import type { PursuedRecord } from '../../pursuits/record.js';
import type { Customer } from '../tokens/token.js';

export type CaptureMode = 'customer_action_required' | 'merchant_initiated';

/**
 * A charge as it is stored. Amounts in kobo. What tenants see as `requires_action` is `processing` with a next action:
 * the order is out, and it is the customer's turn.
 */
export type Charge = PursuedRecord & {
  /** The tenant's name for it, unique among its charges; its own id where none was given. */
  reference: string;
  amount_minor: bigint;
  currency: 'NGN';
  capture_mode: CaptureMode;
  customer: Customer;
  payment_token: string | null;
  /** Where the customer goes on; null once nothing is left to do there. */
  next_action: { type: 'redirect'; url: string } | null;
  return_url: string | null;
  description: string | null;
  metadata: Record<string, unknown> | null;
  /**
   * Which attempt this is, from 1. Each has a reference of its own at the provider, `<charge>-<attempt>`; a new one
   * begins only after a conclusive decline, with `sends` at 0 again.
   */
  attempt: number;
  /** When this attempt may leave us; null: at once. */
  next_attempt_at: Date | null;
  first_declined_at: Date | null;
  /** When a charge that waits for its customer has failed. */
  expires_at: Date | null;
  /** What the provider kept of a completed charge. */
  provider_fee_minor: bigint | null;
  /** Refunds that are done, and those under way: together never more than the amount. */
  refunded_minor: bigint;
  refunding_minor: bigint;
  /** The recurring charge and the period that this one is for. */
  recurring: { id: string; period: number } | null;
  failure: { code: string; message: string } | null;
  completed_at: Date | null;
};

/** The reference of an attempt at the provider. */
export const attemptReference = ({ _id, attempt }: Pick<Charge, '_id' | 'attempt'>): string =>
  `${_id}-${attempt}`;
