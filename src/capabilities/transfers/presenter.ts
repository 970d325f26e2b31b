import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import { presentAttention, presentFailure } from '../../core/instructions/instruction.js';
import type { transferResource } from './schema.js';
import type { Transfer } from './record.js';

/** Null for a transfer that was paid as requested, or has not ended. */
const presentSettled = ({ settled_amount_minor: settled }: Omit<Transfer, 'timeline'>) =>
  settled === null ? null : toWireAmount(settled);

const instant = (at: Date | null) => at?.toISOString() ?? null;

/**
 * Presents a transfer, in responses and in webhook events. Every field is named here, so that a new stored field never
 * reaches clients by accident.
 */
export function presentTransfer(
  transfer: Omit<Transfer, 'timeline'>,
): z.infer<typeof transferResource> {
  return {
    id: transfer._id,
    amount_minor: toWireAmount(transfer.amount_minor),
    settled_amount_minor: presentSettled(transfer),
    fee_minor: toWireAmount(transfer.fee_minor),
    total_minor: toWireAmount(transfer.total_minor),
    recipient_account: transfer.recipient.account,
    recipient_name: transfer.recipient.name,
    recipient_bank: transfer.recipient.bank,
    recipient_bank_code: transfer.recipient.bank_code,
    status: transfer.status,
    reference: transfer.reference,
    narration: transfer.narration,
    session_id: transfer.session_id,
    currency: transfer.currency,
    metadata: transfer.metadata ?? {},
    provider: transfer.provider,
    failure: presentFailure(transfer.failure),
    attention: presentAttention(transfer.attention),
    created_at: transfer.created_at.toISOString(),
    updated_at: transfer.updated_at.toISOString(),
    completed_at: instant(transfer.completed_at),
    reversed_at: instant(transfer.reversed_at),
  };
}

/** A transfer for operators, with fields that tenants do not get. */
export const presentTransferDetails = (transfer: Transfer) => ({
  ...presentTransfer(transfer),
  tenant: transfer.tenant_id,
  in_suspense: transfer.in_suspense,
  submissions: transfer.submissions,
});

/** The line of a transfer in the list for operators. */
export const presentTransferRow = (transfer: Transfer) => ({
  id: transfer._id,
  tenant: transfer.tenant_id,
  status: transfer.status,
  amount_minor: toWireAmount(transfer.amount_minor),
  attention: transfer.attention?.reason ?? null,
  created_at: transfer.created_at.toISOString(),
});
