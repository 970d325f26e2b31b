import { ApiError } from '../errors.js';
import { transferFee } from '../fees.js';
import { newId } from '../ids.js';
import {
  refusalAnswer,
  type AcceptItem,
  type AcceptOutcome,
  type Answer,
  type Claim,
} from '../ledger/decide.js';
import { lagosDay } from '../ledger/wallet.js';
import type { Tenant } from '../tenants/tenant.js';
import type { NameEnquiry } from './name-enquiry.js';
import { presentTransfer } from './presenter.js';
import { recipientOf, type CreateTransferBody } from './schema.js';
import type { TransferStarter } from './starter.js';
import type { Transfers } from './store.js';
import { timelineEntry, type Transfer } from './transfer.js';

/** After this the dispatcher starts a workflow that nobody has started. */
const START_WITHIN_MS = 2_000;

export type CreateTransfer = (
  tenant: Tenant,
  body: CreateTransferBody,
  claim: Claim | null,
) => Promise<{ answer: Answer; resource: string | null; replayed: boolean }>;

/**
 * Accepts a transfer: name enquiry, then one commit of record, hold, limit, key and answer, then the start of its
 * workflow, which the answer does not wait for. Refusals come back as answers, for they too are kept under the key.
 */
export function createTransferCreation(deps: {
  transfers: Transfers;
  starter: TransferStarter;
  nameEnquiry: NameEnquiry;
  provider: string;
  clock?: () => Date;
}): CreateTransfer {
  const { transfers, starter, nameEnquiry, provider, clock = () => new Date() } = deps;

  async function refuse(tenant: Tenant, claim: Claim | null, error: ApiError) {
    const answer = refusalAnswer(error);
    if (!claim) return { answer, resource: null, replayed: false };
    return unlessReused(
      await transfers.accept({ kind: 'refusal', tenant: tenant.id, claim, answer }),
    );
  }

  return async (tenant, body, claim) => {
    const amountMinor = amountWithin(tenant, body);
    const { account, bankCode } = recipientOf(body);
    const named = await nameEnquiry({ account, bankCode });
    if (named.kind === 'not_found') return refuse(tenant, claim, new ApiError('invalid_account'));
    const recipient: Transfer['recipient'] = {
      account,
      bank_code: bankCode,
      name: named.kind === 'found' ? named.name : null,
      bank: named.kind === 'found' ? named.bankName : null,
    };
    const transfer = newTransfer({ tenant, body, amountMinor, recipient, provider, now: clock() });
    const outcome = unlessReused(await transfers.accept(acceptItem(tenant, transfer, claim)));
    if (outcome.resource === transfer._id) starter.startSoon(transfer);
    return outcome;
  };
}

function unlessReused(outcome: AcceptOutcome) {
  if (outcome.kind === 'key_reused') throw new ApiError('idempotency_key_reused');
  return outcome;
}

function amountWithin(tenant: Tenant, body: CreateTransferBody): bigint {
  const amountMinor = BigInt(body.amount_minor);
  const { minMinor, maxMinor } = tenant.limits;
  if (amountMinor >= minMinor && amountMinor <= maxMinor) return amountMinor;
  const message = `A transfer moves ${minMinor} to ${maxMinor} kobo.`;
  const issues = [{ field: 'amount_minor', code: 'out_of_range', message }];
  throw new ApiError('validation_error', { field: 'amount_minor', message, details: { issues } });
}

function newTransfer(given: {
  tenant: Tenant;
  body: CreateTransferBody;
  amountMinor: bigint;
  recipient: Transfer['recipient'];
  provider: string;
  now: Date;
}): Transfer {
  const { tenant, body, amountMinor, now } = given;
  const id = newId('transfer');
  const feeMinor = transferFee(amountMinor);
  return {
    _id: id,
    tenant: tenant.id,
    version: 1,
    status: 'pending',
    amount_minor: amountMinor,
    fee_minor: feeMinor,
    total_minor: amountMinor + feeMinor,
    currency: body.currency,
    recipient: given.recipient,
    reference: body.reference ?? id,
    narration: body.narration,
    session_id: null,
    metadata: body.metadata ?? null,
    provider: given.provider,
    sends: 0,
    not_taken: 0,
    polls: 0,
    failure: null,
    attention: null,
    in_suspense: false,
    watch_until: null,
    day: lagosDay(now),
    due_at: new Date(now.getTime() + START_WITHIN_MS),
    timeline: [
      timelineEntry(now, 'accepted', 'api', { detail: 'the total is held in the wallet' }),
    ],
    created_at: now,
    updated_at: now,
    completed_at: null,
    reversed_at: null,
  };
}

function acceptItem(tenant: Tenant, transfer: Transfer, claim: Claim | null): AcceptItem {
  const body = JSON.stringify({ success: true, data: presentTransfer(transfer) });
  return {
    kind: 'accept',
    tenant: tenant.id,
    transfer,
    dailyLimitMinor: tenant.limits.dailyMinor,
    claim,
    answer: { status: 201, body },
  };
}
