import { toWireAmount } from '../../../shared/money.js';
import type { Dispute, Refund, RefundRequest } from '../payment-provider.js';
import { unreadable, type Data } from './client.js';
import { disputeData, disputeOf } from './dispute-wire.js';
import { wordOf } from './fields.js';
import { pageAfter } from './lists.js';
import { chargeReferences } from './references.js';
import { chargeOf, refundData, refundOf, transactionOf, type RefundData } from './refund-wire.js';
import { z } from 'zod';

/** The bodies of requests about refunds and disputes, and the reading of the answers. */

const { toTheirs } = chargeReferences;
const mismatch = { kind: 'unknown', reason: 'mismatch' } as const;
const unrecognized = (word: string) =>
  ({ kind: 'unknown', reason: 'unrecognized', ...wordOf(word) }) as const;

/** The body of a refund. Paystack takes no reference of ours: the marker in its note finds it. */
export const refundBody = (order: RefundRequest) => ({
  transaction: toTheirs(order.charge.reference),
  amount: toWireAmount(order.amountMinor),
  currency: order.currency,
  customer_note: `Refund ${order.clientReference}`.slice(0, 200),
  merchant_note: order.marker,
});

/** Reads the answer to a refund. Another charge or amount than ours is no answer to it. */
export function readRefund({ data }: Data, order: RefundRequest) {
  const parsed = refundData.safeParse(data);
  if (!parsed.success) return unreadable();
  const { reference: theirs } = transactionOf(parsed.data);
  const isOther = theirs !== null && theirs !== toTheirs(order.charge.reference);
  if (isOther || parsed.data.amount !== order.amountMinor) return mismatch;
  const refund = refundOf(parsed.data, order.charge.reference);
  if (!refund) return unrecognized(parsed.data.status);
  return { kind: 'accepted', refund: { ...refund, marker: order.marker } } as const;
}

/** Reads the answer to the account of a refund. */
export function readResumed({ data }: Data, id: string) {
  const parsed = refundData.safeParse(data);
  if (!parsed.success) return unreadable();
  if (parsed.data.id != null && parsed.data.id !== id) return mismatch;
  const refund = refundOf(parsed.data, chargeOf(parsed.data) ?? '');
  return refund
    ? ({ kind: 'accepted', refund: { ...refund, id } } as const)
    : unrecognized(parsed.data.status);
}

/** The charge whose refunds are asked for: our reference, and the number of its transaction. */
type Wanted = { reference: string; transaction: string };

/**
 * Reads a page of the list of refunds, which has those of all charges. A row may name its charge by the number alone. A
 * row of our charge with an unknown word makes the page unknown; a row of another charge does not.
 */
export function readRefunds({ data, meta }: Data, wanted: Wanted, page: number) {
  const rows = z.array(refundData).safeParse(data);
  if (!rows.success) return unreadable();
  const items: Refund[] = [];
  for (const row of rows.data) {
    const reference = isOf(row, wanted) ? wanted.reference : (chargeOf(row) ?? '');
    const refund = refundOf(row, reference);
    if (refund) items.push(refund);
    else if (reference === wanted.reference) return unrecognized(row.status);
  }
  return { kind: 'page', items, next: pageAfter(meta, page, rows.data.length) } as const;
}

function isOf(row: RefundData, { reference, transaction }: Wanted): boolean {
  const of = transactionOf(row);
  return of.reference === null ? of.id === transaction : of.reference === toTheirs(reference);
}

/** Reads a page of the disputes of a charge. */
export function readDisputes({ data, meta }: Data, wanted: Wanted, page: number) {
  const rows = z.array(disputeData).safeParse(data);
  if (!rows.success) return unreadable();
  const items: Dispute[] = [];
  for (const row of rows.data) {
    if (row.transaction.reference !== toTheirs(wanted.reference)) continue;
    const dispute = disputeOf(row);
    if (!dispute) return unrecognized(row.resolution ?? row.status);
    items.push(dispute);
  }
  return { kind: 'page', items, next: pageAfter(meta, page, rows.data.length) } as const;
}
