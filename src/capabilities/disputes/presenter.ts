import type { z } from 'zod';
import { presentAttention } from '../../core/instructions/instruction.js';
import { toWireAmount } from '../../shared/money.js';
import type { Dispute } from './record.js';
import type { disputeResource } from './schema.js';

/** A dispute as clients see it: every field is named here, so that a new stored field never leaks. */
export const presentDispute = (
  dispute: Omit<Dispute, 'timeline'>,
): z.infer<typeof disputeResource> => ({
  id: dispute._id,
  charge_reference: dispute.charge_reference,
  amount_minor: toWireAmount(dispute.amount_minor),
  currency: dispute.currency,
  status: dispute.status,
  reason: dispute.reason,
  due_at: dispute.due_at?.toISOString() ?? null,
  attention: presentAttention(dispute.attention),
  created_at: dispute.created_at.toISOString(),
  decided_at: dispute.decided_at?.toISOString() ?? null,
});
