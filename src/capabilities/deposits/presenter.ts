import type { z } from 'zod';
import { presentAttention, presentFailure } from '../../core/instructions/instruction.js';
import { toWireAmount } from '../../shared/money.js';
import { submittedReturn, type Deposit } from './record.js';
import type { depositResource } from './schema.js';

/** A deposit as clients see it: every field is named here, so that a new stored field never leaks. */
export function presentDeposit(
  deposit: Omit<Deposit, 'timeline'>,
): z.infer<typeof depositResource> {
  const { amount_minor: amountMinor, sender } = deposit;
  return {
    id: deposit._id,
    virtual_account_id: deposit.virtual_account_id,
    amount_minor: amountMinor === null ? null : toWireAmount(amountMinor),
    fee_minor: toWireAmount(deposit.fee_minor),
    currency: deposit.currency,
    status: deposit.state,
    match: deposit.match,
    session_id: deposit.session_id,
    provider_reference: deposit.reference,
    provider: deposit.provider,
    sender: sender && { name: sender.name, account: sender.account, bank: sender.bank },
    narration: deposit.narration,
    failure: presentFailure(deposit.failure),
    attention: presentAttention(deposit.attention),
    received_at: deposit.received_at.toISOString(),
    created_at: deposit.created_at.toISOString(),
    credited_at: deposit.credited_at?.toISOString() ?? null,
    reversed_at: deposit.reversed_at?.toISOString() ?? null,
  };
}

/** The line of a deposit in the list for operators. */
export const presentDepositRow = (deposit: Deposit) => ({
  id: deposit._id,
  tenant: deposit.tenant_id,
  account: deposit.virtual_account_id,
  status: deposit.state,
  amount_minor: deposit.amount_minor === null ? null : toWireAmount(deposit.amount_minor),
  attention: deposit.attention?.reason ?? null,
  created_at: deposit.created_at.toISOString(),
});

/** A deposit for operators, with fields that tenants do not get. */
export const presentDepositDetails = (deposit: Deposit) => ({
  ...presentDeposit(deposit),
  tenant: deposit.tenant_id,
  instruction: deposit.instruction,
  instruction_status: deposit.status,
  last_return: submittedReturn(deposit),
  moved_to: deposit.moved_to,
});
