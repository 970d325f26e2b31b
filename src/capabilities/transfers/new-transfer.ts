import { transferFee } from '../../shared/fees.js';
import { invalidField } from '../../platform/http/validate.js';
import { newId } from '../../shared/ids.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import type { NameEnquiryAnswer } from '../../core/providers/transfer-provider.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import { recipientOf, type TransferBody } from './schema.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import type { Transfer } from './transfer.js';

/** The amount of a body, which must be within what its tenant may send at once. */
export function amountWithin(tenant: Tenant, body: Pick<TransferBody, 'amount_minor'>): bigint {
  const amountMinor = BigInt(body.amount_minor);
  const { minMinor, maxMinor } = tenant.limits;
  if (amountMinor < minMinor) {
    throw invalidField('amount_minor', 'out_of_range', `must be at least ${minMinor}`);
  }
  if (amountMinor > maxMinor) {
    throw invalidField('amount_minor', 'out_of_range', `must be at most ${maxMinor}`);
  }
  return amountMinor;
}

/** A transfer as it is accepted, with everything that does not depend on the commit. */
export function newTransfer(given: {
  tenant: Tenant;
  body: TransferBody;
  amountMinor: bigint;
  /** What the name enquiry found: without an answer the workflow asks once more. */
  named: NameEnquiryAnswer;
  provider: string;
  now: Date;
  /** After this the dispatcher starts a workflow that nobody has started. */
  startWithinMs: number;
  /** The batch that it came in. */
  bulkTransferId?: string;
}): Transfer {
  const { tenant, body, amountMinor, named, now, bulkTransferId } = given;
  const id = newId('transfer');
  const feeMinor = transferFee(amountMinor);
  const { account, bankCode } = recipientOf(body);
  const detail = `the total is held in the wallet${bulkTransferId === undefined ? '' : `; came in ${bulkTransferId}`}`;
  return {
    _id: id,
    tenant_id: tenant.id,
    version: 1,
    status: 'pending',
    amount_minor: amountMinor,
    fee_minor: feeMinor,
    total_minor: amountMinor + feeMinor,
    currency: body.currency,
    recipient: {
      account,
      bank_code: bankCode,
      name: named.kind === 'found' ? named.name : null,
      bank: named.kind === 'found' ? named.bankName : null,
    },
    reference: body.reference ?? id,
    narration: body.narration,
    session_id: null,
    metadata: body.metadata ?? null,
    provider: given.provider,
    submissions: 0,
    rejected_submissions: 0,
    polls: 0,
    failure: null,
    attention: null,
    in_suspense: false,
    monitor_until: null,
    limit_day: lagosDay(now),
    next_check_at: new Date(now.getTime() + given.startWithinMs),
    timeline: [timelineEntry(now, 'accepted', 'api', { detail })],
    created_at: now,
    updated_at: now,
    completed_at: null,
    reversed_at: null,
  };
}
