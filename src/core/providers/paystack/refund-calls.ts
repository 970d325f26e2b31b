import { toWireAmount } from '../../../shared/money.js';
import type { Dispute, Refund, RefundRequest } from '../payment-provider.js';
import type { Trace } from '../port.js';
import { otherEnvironment, unreadable, type Data } from './client.js';
import { disputeData, disputeOf } from './dispute-wire.js';
import { wordOf } from './fields.js';
import { pageAfter, rowsOf } from './lists.js';
import { chargeReferences } from './references.js';
import {
  chargeOf,
  refundData,
  refundNames,
  refundOf,
  transactionOf,
  type RefundData,
} from './refund-wire.js';

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
export function readRefund({ data }: Data, order: RefundRequest, domain: string) {
  const parsed = refundData.safeParse(data);
  if (!parsed.success) return unreadable();
  const elsewhere = otherEnvironment(parsed.data.domain, domain);
  if (elsewhere) return elsewhere;
  const { reference: theirs } = transactionOf(parsed.data);
  const isOther = theirs !== null && theirs !== toTheirs(order.charge.reference);
  if (isOther || parsed.data.amount !== order.amountMinor) return mismatch;
  const refund = refundOf(parsed.data, order.charge.reference);
  if (!refund) return unrecognized(parsed.data.status);
  return { kind: 'accepted', refund: { ...refund, marker: order.marker } } as const;
}

/** Reads the answer to the account of a refund. */
export function readResumed({ data }: Data, id: string, domain: string) {
  const parsed = refundData.safeParse(data);
  if (!parsed.success) return unreadable();
  const elsewhere = otherEnvironment(parsed.data.domain, domain);
  if (elsewhere) return elsewhere;
  if (parsed.data.id != null && parsed.data.id !== id) return mismatch;
  const refund = refundOf(parsed.data, chargeOf(parsed.data) ?? '');
  return refund
    ? ({ kind: 'accepted', refund: { ...refund, id } } as const)
    : unrecognized(parsed.data.status);
}

/** The charge whose refunds are asked for: our reference, the number of its transaction, and our environment. */
type Wanted = { reference: string; transaction: string; domain: string };

/**
 * Reads a page of the list of refunds, which has those of all charges. A row may name its charge by the number alone. A
 * row with an unknown word, or one that cannot be read, makes the page unknown if it is or may be of our charge; a row of
 * another charge does not. The same holds for a row of the other environment.
 */
export function readRefunds({ data, meta }: Data, wanted: Wanted, page: number) {
  const rows = rowsOf(refundData, data);
  if (rows === null) return unreadable();
  const items: Refund[] = [];
  for (const each of rows) {
    if (each.kind === 'unreadable') {
      if (mayBeOf(refundNames.parse(each.raw), wanted)) return unreadable();
      continue;
    }
    const { row } = each;
    const elsewhere = otherEnvironment(row.domain, wanted.domain);
    if (elsewhere) {
      if (isOf(row, wanted)) return elsewhere;
      continue;
    }
    const reference = isOf(row, wanted) ? wanted.reference : (chargeOf(row) ?? '');
    const refund = refundOf(row, reference);
    if (refund) items.push(refund);
    else if (reference === wanted.reference) return unrecognized(row.status);
  }
  return { kind: 'page', items, next: pageAfter(meta, page, rows.length) } as const;
}

/** Reads all pages of a list as one, each as `readRefunds`. */
export function readRefundList(
  { items: pages, providerRequestId }: Trace & { items: readonly Data[] },
  wanted: Wanted,
) {
  const items: Refund[] = [];
  for (const each of pages) {
    const found = readRefunds(each, wanted, 1);
    if (found.kind !== 'page') return { ...found, providerRequestId };
    items.push(...found.items);
  }
  return { kind: 'page', items, next: null, providerRequestId } as const;
}

function isOf(row: Partial<RefundData>, { reference, transaction }: Wanted): boolean {
  const of = transactionOf(row);
  return of.reference === null ? of.id === transaction : of.reference === toTheirs(reference);
}

/** True for a row that names our transaction, or none. */
function mayBeOf(row: Partial<RefundData>, wanted: Wanted): boolean {
  const { reference, id } = transactionOf(row);
  return (reference === null && id === null) || isOf(row, wanted);
}

/** Reads a page of the disputes of a charge. A row that names another transaction is not among them. */
export function readDisputes({ data, meta }: Data, wanted: Wanted, page: number) {
  const rows = rowsOf(disputeData, data);
  if (rows === null) return unreadable();
  const theirs = toTheirs(wanted.reference);
  const items: Dispute[] = [];
  for (const each of rows) {
    if (each.kind === 'unreadable') {
      if (mayBeOf(refundNames.parse(each.raw), wanted)) return unreadable();
      continue;
    }
    const { row } = each;
    if (row.transaction.reference !== theirs) continue;
    const elsewhere = otherEnvironment(row.domain ?? row.transaction.domain, wanted.domain);
    if (elsewhere) return elsewhere;
    const dispute = disputeOf(row);
    if (!dispute) return unrecognized(row.resolution ?? row.status);
    items.push(dispute);
  }
  return { kind: 'page', items, next: pageAfter(meta, page, rows.length) } as const;
}

/**
 * Reads a page of the list of all disputes. Rows of others, rows that cannot be read and words that are in no table are left out:
 * absence from this list proves nothing. A row of the other environment means that our key belongs to it.
 */
export function readDisputeList({ data, meta }: Data, page: number, domain: string) {
  const rows = rowsOf(disputeData, data);
  if (rows === null) return unreadable();
  const items: Dispute[] = [];
  for (const each of rows) {
    if (each.kind === 'unreadable') continue;
    const elsewhere = otherEnvironment(each.row.domain ?? each.row.transaction.domain, domain);
    if (elsewhere) return elsewhere;
    const dispute = disputeOf(each.row);
    if (dispute) items.push(dispute);
  }
  return { kind: 'page', items, next: pageAfter(meta, page, rows.length) } as const;
}
