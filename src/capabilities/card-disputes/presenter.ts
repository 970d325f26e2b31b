import type { z } from 'zod';
import { presentFailure } from '../../core/instructions/instruction.js';
import { toWireAmount } from '../../shared/money.js';
import type { CardDispute } from './record.js';
import type { cardDisputeResource } from './schema.js';

/** A dispute as clients see it: every field is named here, so that a new stored field never leaks. */
export const presentCardDispute = (dispute: CardDispute): z.infer<typeof cardDisputeResource> => ({
  id: dispute._id,
  card_id: dispute.card_id,
  authorization_id: dispute.authorization_id,
  amount_minor: toWireAmount(dispute.amount_minor),
  credited_minor: toWireAmount(dispute.credited_minor),
  currency: dispute.currency,
  status: dispute.status,
  reason: dispute.reason,
  explanation: dispute.explanation,
  transaction_reference: dispute.transaction_reference,
  cancellation: dispute.cancellation,
  failure: presentFailure(dispute.failure),
  created_at: dispute.created_at.toISOString(),
  updated_at: dispute.updated_at.toISOString(),
  decided_at: dispute.decided_at?.toISOString() ?? null,
});
