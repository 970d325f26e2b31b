import type { AuthorizationRequest } from '../../providers/card-issuer.js';
import type { TimelineEntry } from '../../pursuits/timeline.js';

export type AuthorizationStatus = 'approved' | 'declined' | 'cleared' | 'reversed' | 'expired';

/** A real-time authorization as it was decided, and what became of it. Amounts in kobo. */
export type CardAuthorization = {
  /** Made of issuer and token, so that the same token is the same decision. */
  _id: string;
  tenant: string;
  version: number;
  card: string;
  provider: string;
  token: string;
  status: AuthorizationStatus;
  /** Why it was decided so. */
  code: string;
  amount_minor: bigint;
  /** What is still held for it, of the card (`prepaid`) or of the wallet (`jit`). */
  held_minor: bigint;
  held_of: 'prepaid' | 'jit';
  cleared_minor: bigint;
  currency: 'NGN';
  channel: AuthorizationRequest['channel'];
  merchant: AuthorizationRequest['merchant'];
  /** When the hold ends by itself. */
  expires_at: Date;
  /** When the sweep makes sure that a workflow follows it; null once nothing is left to do. */
  due_at: Date | null;
  timeline: TimelineEntry[];
  created_at: Date;
  updated_at: Date;
};
