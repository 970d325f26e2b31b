import type { RecordCollection } from '../commit/collection.js';
import {
  STEPS_OF_HELD,
  addTo,
  checkLegs,
  checkSteps,
  stepsOf,
  wasCaptured,
  type RecordWithPostings,
  type TenantBooks,
} from '../ledger/audit-checks.js';
import {
  accounts,
  type Leg,
  capturePosting,
  holdPosting,
  releasePosting,
} from '../ledger/posting.js';
import { LIST_INDEXES, OPEN } from '../instructions/listing.js';
import { holdOf, settledOf, type OutgoingPayment } from './outgoing-payment.js';
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
  const { must: steps, may } = STEPS_OF_HELD[payment.status];
  const must = [...steps, ...Object.keys(fee || {})];
  if ((payment.corrections ?? 0) > 0) {
    return [
      ...checkSteps(payment, { must, may: stepsOf(payment) }),
      ...checkLegs(payment, { hold: holdPosting(hold), ...fee }, name),
      ...checkSum(payment),
    ];
  }
  const expected = { hold: holdPosting(hold), resolve: end(hold, payment.created_at), ...fee };
  return [...checkSteps(payment, { must, may }), ...checkLegs(payment, expected, name)];
}

/** Compares the sum of the postings of a payment that an operator has corrected with its state: their number has no bound. */
function checkSum(payment: OutgoingPayment & RecordWithPostings): string[] {
  const { _id: id, tenant_id: tenantId, provider, status } = payment;
  const sums = new Map<string, bigint>();
  const add = (account: string, amountMinor: bigint) =>
    // A receivable of the tenant stands for what its wallet lacked.
    addTo(
      sums,
      account === accounts.receivable(tenantId) ? accounts.available(tenantId) : account,
      amountMinor,
    );
  for (const { _id, legs } of payment.postings) {
    if (_id === `${id}/${PROVIDER_FEE}`) continue;
    for (const leg of legs) add(leg.account, leg.amount_minor);
  }
  for (const { account, amountMinor } of legsOfState()) add(account, -amountMinor);
  return [...sums]
    .filter(([, amountMinor]) => amountMinor !== 0n)
    .map(
      ([account, amountMinor]) => `${id} is ${status} with ${amountMinor} too much in ${account}`,
    );

  function legsOfState(): readonly Leg[] {
    const hold = holdOf(payment);
    if (status === 'completed') {
      return [...holdPosting(hold).legs, ...capturePosting(hold, payment.created_at).legs];
    }
    const paidMinor = payment.in_suspense ? settledOf(payment) : 0n;
    return [
      { account: accounts.suspense, amountMinor: -paidMinor },
      { account: accounts.clearing(provider), amountMinor: paidMinor },
    ];
  }
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
