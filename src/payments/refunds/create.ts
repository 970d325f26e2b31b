import { ApiError } from '../../errors.js';
import type { Answered } from '../../http/idempotency.js';
import { refuse } from '../../idempotency/refuse.js';
import { newId } from '../../ids.js';
import { unlessReused, type Claim } from '../../ledger/view.js';
import { START_WITHIN_MS } from '../../pursuits/record.js';
import { timelineEntry } from '../../pursuits/timeline.js';
import { attemptReference, type Charge } from '../charges/charge.js';
import type { Charges } from '../charges/store.js';
import type { Refund } from './refund.js';
import type { CreateRefundBody } from './schema.js';
import type { RefundStarter } from '../starters.js';
import type { Refunds } from './store.js';

export type CreateRefund = (
  tenant: string,
  body: CreateRefundBody,
  claim: Claim | null,
) => Promise<Answered>;

/** Accepts a refund: one commit of record, hold, charge, key and answer; then the start of its workflow. */
export function createRefundCreation(deps: {
  charges: Pick<Charges, 'byReference'>;
  refunds: Pick<Refunds, 'accept'>;
  refundStarter: Pick<RefundStarter, 'startSoon'>;
  clock?: () => Date;
}): CreateRefund {
  const { charges, refunds, refundStarter, clock = () => new Date() } = deps;

  return async (tenant, body, claim) => {
    const charge = await charges.byReference(tenant, body.charge_reference);
    if (!charge) {
      const message = 'There is no such charge.';
      const error = new ApiError('not_found', { field: 'charge_reference', message });
      return refuse(refunds, { tenant, claim, error });
    }
    const refund = newRefund(charge, body, clock());
    const { made, ...outcome } = await refunds.accept({
      kind: 'acceptRefund',
      tenant,
      id: refund._id,
      refund,
      amountMinor: body.amount_minor === undefined ? null : BigInt(body.amount_minor),
      claim,
    });
    if (made) refundStarter.startSoon(made);
    return unlessReused(outcome);
  };
}

/** A refund with everything that does not depend on the commit. The attempt that was paid has its number for good. */
function newRefund(
  charge: Charge,
  { reference, reason }: CreateRefundBody,
  now: Date,
): Omit<Refund, 'amount_minor'> {
  const id = newId('refund');
  return {
    _id: id,
    tenant: charge.tenant,
    version: 1,
    status: 'pending',
    provider: charge.provider,
    reference: reference ?? id,
    charge: charge._id,
    charge_reference: charge.reference,
    paid_as: attemptReference(charge),
    currency: charge.currency,
    reason: reason ?? null,
    provider_refund: null,
    failure: null,
    in_suspense: false,
    sends: 0,
    not_taken: 0,
    polls: 0,
    attention: null,
    watch_until: null,
    due_at: new Date(now.getTime() + START_WITHIN_MS),
    timeline: [
      timelineEntry(now, 'accepted', 'api', { detail: 'the amount is held in the wallet' }),
    ],
    created_at: now,
    updated_at: now,
    completed_at: null,
    reversed_at: null,
  };
}
