import type { RecordCollection } from '../commit/collection.js';
import {
  STEPS_OF_HELD,
  addTo,
  checkLegs,
  checkSteps,
  wasCaptured,
  type RecordWithPostings,
  type TenantBooks,
} from '../ledger/audit-checks.js';
import { capturePosting, holdPosting, releasePosting } from '../ledger/hold-postings.js';
import { accounts } from '../ledger/posting.js';
import { LIST_INDEXES, OPEN } from '../instructions/listing.js';
import { holdOf, type OutgoingPayment } from './outgoing-payment.js';
import { PROVIDER_FEE, providerFeePosting } from './provider-fee.js';

/** The problems of a payment: it must have the postings of its state and no others. `name` is its noun in messages. */
export function checkPayment(
  payment: OutgoingPayment & RecordWithPostings,
  name: string,
): string[] {
  const hold = holdOf(payment);
  const end = wasCaptured(payment) ? capturePosting : releasePosting;
  const feeMinor = payment.provider_fee_minor ?? 0n;
  const fee = feeMinor > 0n && {
    [PROVIDER_FEE]: providerFeePosting(payment, payment.created_at, feeMinor),
  };
  const expected = { hold: holdPosting(hold), resolve: end(hold, payment.created_at), ...fee };
  const { must, may } = STEPS_OF_HELD[payment.status];
  return [
    ...checkSteps(payment, { must: [...must, ...Object.keys(fee || {})], may }),
    ...checkLegs(payment, expected, name),
  ];
}

/** The amount that a tenant's open payments of one collection hold, by account. */
export async function heldByOpen(
  { db, session, tenantId }: TenantBooks,
  { name }: RecordCollection,
): Promise<Map<string, bigint>> {
  const held = new Map<string, bigint>();
  const open = db
    .collection<OutgoingPayment>(name)
    .find(
      { tenant_id: tenantId, status: { $in: OPEN } },
      { session, hint: LIST_INDEXES.byStatus, projection: { total_minor: 1 } },
    );
  for await (const { total_minor: total } of open) addTo(held, accounts.held(tenantId), total);
  return held;
}
