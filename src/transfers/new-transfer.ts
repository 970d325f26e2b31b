import { transferFee } from '../fees.js';
import { invalidField } from '../http/validate.js';
import { newId } from '../ids.js';
import { lagosDay } from '../ledger/wallet.js';
import type { NameEnquiryAnswer } from '../providers/provider.js';
import type { Tenant } from '../tenants/tenant.js';
import { recipientOf, type TransferBody } from './schema.js';
import { timelineEntry } from '../pursuits/timeline.js';
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
  batch?: string;
}): Transfer {
  const { tenant, body, amountMinor, named, now, batch } = given;
  const id = newId('transfer');
  const feeMinor = transferFee(amountMinor);
  const { account, bankCode } = recipientOf(body);
  const detail = `the total is held in the wallet${batch === undefined ? '' : `; came in ${batch}`}`;
  return {
    _id: id,
    tenant: tenant.id,
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
    sends: 0,
    not_taken: 0,
    polls: 0,
    failure: null,
    attention: null,
    in_suspense: false,
    watch_until: null,
    day: lagosDay(now),
    due_at: new Date(now.getTime() + given.startWithinMs),
    timeline: [timelineEntry(now, 'accepted', 'api', { detail })],
    created_at: now,
    updated_at: now,
    completed_at: null,
    reversed_at: null,
  };
}
