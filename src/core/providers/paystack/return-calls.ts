import { isId } from '../../../shared/ids.js';
import { toWireAmount } from '../../../shared/money.js';
import type { ReturnRequest } from '../account-provider.js';
import { otherEnvironment, unreadable, type Data } from './client.js';
import { dateOf, wordOf } from './fields.js';
import { pageAfter, rowsOf } from './lists.js';
import {
  refundData,
  refundNames,
  STATUSES,
  transactionOf,
  wordsIn,
  type RefundData,
} from './refund-wire.js';

/** The return of a deposit to its sender: a refund of its transaction, found again by the marker in its note. */

const mismatch = { kind: 'unknown', reason: 'mismatch' } as const;

/** The body of a return. A deposit is returned again after a failure, so the note has the time of the order too. */
export const returnBody = ({ id, amountMinor, marker, orderedAt }: ReturnRequest) => ({
  transaction: id,
  amount: toWireAmount(amountMinor),
  currency: 'NGN',
  customer_note: 'Returned to the sender',
  merchant_note: `${marker} ${orderedAt.getTime()}`,
});

/** The id of the returned deposit in a note; null if the refund was made elsewhere. */
export const depositMarkerIn = ({ merchant_note: note }: Partial<RefundData>): string | null =>
  wordsIn(note).find((each) => isId('deposit', each)) ?? null;

/** The state of a return; unknown for a word that is not in the table. `needs-attention` waits for the sender's account. */
function returnState(refund: RefundData) {
  if (!Object.hasOwn(STATUSES, refund.status)) {
    return { kind: 'unknown', reason: 'unrecognized', ...wordOf(refund.status) } as const;
  }
  const state = STATUSES[refund.status as keyof typeof STATUSES];
  switch (state) {
    case 'succeeded':
      return { kind: 'succeeded', amountMinor: refund.amount, sessionId: null } as const;
    case 'rejected':
      return { kind: 'rejected', code: 'return_refused', scope: 'instruction' } as const;
    case 'pending':
      return { kind: 'pending', awaits: 'provider' } as const;
    case 'needs_account':
      return { kind: 'pending', awaits: 'operator' } as const;
  }
}

/** Reads the answer to a return. Another transaction or amount than ours is no answer to it. */
export function readReturn({ data }: Data, { id, amountMinor }: ReturnRequest, domain: string) {
  const parsed = refundData.safeParse(data);
  if (!parsed.success) return unreadable();
  const elsewhere = otherEnvironment(parsed.data.domain, domain);
  if (elsewhere) return elsewhere;
  const { reference } = transactionOf(parsed.data);
  const isOther = reference !== null && reference !== id;
  return isOther || parsed.data.amount !== amountMinor ? mismatch : returnState(parsed.data);
}

/** A refund that is looked for: its marker, and the time of its order. */
type Wanted = Pick<ReturnRequest, 'marker' | 'orderedAt'> & { domain: string };

/** Paystack's time of a refund and our time of its order differ by less. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * True for a refund of an earlier order that has failed: it says nothing about the present order, which Paystack may list later.
 * One without the time of its order in the note, as earlier releases made it, has that of Paystack's clock, which has whole
 * seconds and may be behind ours: it is over only if it was made well before the order.
 */
function isOver(refund: RefundData, { orderedAt }: Wanted): boolean {
  if (returnState(refund).kind !== 'rejected') return false;
  const noted = wordsIn(refund.merchant_note).find((each) => /^[0-9]{13}$/.test(each));
  if (noted !== undefined) return Number(noted) < orderedAt.getTime();
  const at = dateOf(refund.createdAt, refund.created_at);
  return at !== null && at.getTime() < orderedAt.getTime() - CLOCKS_DIFFER_MS;
}

/**
 * Reads a page of the list of refunds: the one with our marker, or the next page; null after the last. A row that cannot be
 * read makes the page unknown if it has our marker or no note at all. The failure of an earlier order is passed over.
 */
export function readReturns({ data, meta }: Data, wanted: Wanted, page: number) {
  const rows = rowsOf(refundData, data);
  if (rows === null) return unreadable();
  const { marker, domain } = wanted;
  const hasMarker = (note: string | null | undefined) => wordsIn(note).includes(marker);
  for (const each of rows) {
    if (each.kind === 'row') {
      if (!hasMarker(each.row.merchant_note) || isOver(each.row, wanted)) continue;
      return otherEnvironment(each.row.domain, domain) ?? returnState(each.row);
    } else {
      const { merchant_note: note } = refundNames.parse(each.raw);
      if (note == null || hasMarker(note)) return unreadable();
    }
  }
  return { kind: 'page', next: pageAfter(meta, page, rows.length) } as const;
}
