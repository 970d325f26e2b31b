import type { z } from 'zod';
import { presentAttention, presentFailure } from '../../core/instructions/instruction.js';
import { toWireAmount } from '../../shared/money.js';
import type { virtualAccountResource } from './schema.js';
import type { VirtualAccount } from './record.js';

/** An account as clients see it: every field is named here, so that a new stored field never leaks. */
export function presentAccount(
  account: Omit<VirtualAccount, 'timeline'>,
): z.infer<typeof virtualAccountResource> {
  const { face, amount_minor: expected } = account;
  return {
    id: account._id,
    customer_id: account.customer_id,
    account_number: account.account_number,
    account_name: face?.accountName ?? account.account_name,
    bank_name: face?.bankName ?? null,
    bank_code: face?.bankCode ?? account.bank_code,
    currency: account.currency,
    status: account.state,
    total_received_minor: toWireAmount(account.total_received_minor),
    expected_amount_minor: expected === null ? null : toWireAmount(expected),
    on_mismatch: account.on_mismatch,
    reference: account.reference,
    metadata: account.metadata ?? {},
    provider: account.provider,
    failure: presentFailure(account.failure),
    attention: presentAttention(account.attention),
    created_at: account.created_at.toISOString(),
    closed_at: account.closed_at?.toISOString() ?? null,
  };
}

/** The line of an account in the list for operators. */
export const presentAccountRow = (account: VirtualAccount) => ({
  id: account._id,
  tenant: account.tenant_id,
  status: account.state,
  total_received_minor: toWireAmount(account.total_received_minor),
  attention: account.attention?.reason ?? null,
  created_at: account.created_at.toISOString(),
});

/** An account for operators, with fields that tenants do not get. */
export const presentAccountDetails = (account: VirtualAccount) => ({
  ...presentAccount(account),
  tenant: account.tenant_id,
  instruction: account.instruction,
  instruction_status: account.status,
  provider_account: account.face?.handle ?? null,
  submissions: account.submissions,
});
