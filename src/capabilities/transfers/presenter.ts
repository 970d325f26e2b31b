import type { z } from 'zod';
import { toWireAmount } from '../../shared/money.js';
import type { Bank } from '../../core/providers/transfer-provider.js';
import { presentAttention, presentFailure } from '../../core/instructions/api-fields.js';
import type { bankResource, recipientResource, transferResource } from './api.js';
import type { Transfer } from './transfer.js';

const instant = (at: Date | null) => at?.toISOString() ?? null;

/** A transfer as clients see it: every field is named here, so that a new stored field never leaks. */
export function presentTransfer(
  transfer: Omit<Transfer, 'timeline'>,
): z.infer<typeof transferResource> {
  return {
    id: transfer._id,
    amount_minor: toWireAmount(transfer.amount_minor),
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

/** The holder of an account, in the names that a transfer to it uses. */
export function presentRecipient(
  recipient: Transfer['recipient'],
): z.infer<typeof recipientResource> {
  return {
    recipient_account: recipient.account,
    recipient_name: recipient.name,
    recipient_bank: recipient.bank,
    recipient_bank_code: recipient.bank_code,
  };
}

export function presentBank(bank: Bank): z.infer<typeof bankResource> {
  return { code: bank.code, nip_code: bank.nipCode, name: bank.name };
}

/** The line of a transfer in the list for operators. */
export const presentTransferRow = (transfer: Transfer) => ({
  id: transfer._id,
  tenant: transfer.tenant_id,
  status: transfer.status,
  amount_minor: toWireAmount(transfer.amount_minor),
  attention: transfer.attention?.reason ?? null,
  created_at: transfer.created_at.toISOString(),
});
