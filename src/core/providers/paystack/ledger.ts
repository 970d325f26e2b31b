import { z } from 'zod';
import type { NotFound, Trace, Unknown } from '../port.js';
import type { LedgerAnswer, LedgerEntry, LedgerWindow } from '../transfer-provider.js';
import { unreadable, withoutAbsence, type Data, type PaystackClient } from './client.js';
import { amount, currency, domain, numericId, optionalAmount, reference } from './fields.js';
import { at, pageAfter, pageOf, PAGE_SIZE, query, rowsOf } from './lists.js';
import { chargeReferences } from './references.js';
import { depositMarkerIn } from './return-calls.js';
import { disputeIn, markerIn, refundNames, transactionOf } from './refund-wire.js';

/** A row of the ledger of our balance. `difference` contains the fee; `model_row` is the number of the thing behind it. */
const ledgerRow = z.looseObject({
  id: numericId,
  balance: z.int(),
  difference: z.int(),
  currency,
  domain,
  model_responsible: z.string().max(100).nullish().catch(null),
  model_row: numericId.nullish().catch(null),
  createdAt: z.iso.datetime({ offset: true }),
});
const refundThing = z.looseObject({ amount, id: numericId });
type LedgerRow = z.infer<typeof ledgerRow>;

/** The thing behind a row. A surcharge of Paystack's is in the amount of a transaction, and is never ours. */
const thing = z.looseObject({
  amount,
  requested_amount: optionalAmount,
  reference: reference.nullish().catch(null),
});

/** The paths of the things that move our balance. */
const PATHS: Readonly<Record<string, string>> = {
  transfer: '/transfer',
  transaction: '/transaction',
  refund: '/refund',
};
/** Money between us and Paystack alone. */
const OWN = /^(?:balance|top-?up|funding|settlement)/i;

/**
 * Reads a page of the ledger of our balance, the newest row first. A row names what is behind it by a number, so each is looked up
 * for its reference and its amount without the fee.
 */
export async function readLedger(
  client: PaystackClient,
  { from, to, cursor, takeTurn }: LedgerWindow,
  ours: string,
  signal: AbortSignal,
): Promise<LedgerAnswer> {
  const page = pageOf(cursor);
  const window = { from: from.toISOString(), to: to.toISOString() };
  const path = `/balance/ledger?${query({ ...window, perPage: PAGE_SIZE, page })}`;
  const request = { call: 'ledger', method: 'GET', path } as const;
  await takeTurn();
  const read = (found: Data) => readRows(found, page, ours);
  const answer = withoutAbsence(await client.verify(request, signal, read));
  if (answer.kind !== 'page') return answer;
  const lookUp = async (path: string, number: string, read: Read) => {
    await takeTurn();
    const request = { call: 'ledgerEntry', method: 'GET', path: at(path, number) } as const;
    return lookedUp(await client.verify(request, signal, read));
  };
  const items: LedgerEntry[] = [];
  for (const row of answer.items) {
    const entry = await entryOf(lookUp, row);
    if ('kind' in entry) return entry;
    items.push(entry);
  }
  return { ...answer, items };
}

/** Rows that cannot be read are left out: the balances do not chain there, which is a break. */
function readRows({ data, meta }: Data, page: number, ours: string) {
  const rows = rowsOf(ledgerRow, data);
  if (rows === null) return unreadable();
  const read = rows.flatMap((each) => (each.kind === 'row' ? [each.row] : []));
  if (read.length === 0 && rows.length > 0) return unreadable();
  const isOther = read.some((row) => row.domain != null && row.domain !== ours);
  if (isOther) return { kind: 'unknown', reason: 'mismatch', fault: 'environment' } as const;
  const items = read.filter((row) => row.currency === 'NGN');
  return { kind: 'page', items, next: pageAfter(meta, page, rows.length) } as const;
}

type Found = Pick<LedgerEntry, 'reference' | 'of' | 'amountMinor'> & {
  kind: 'found';
  /** The number of a refund's transaction, if that alone tells what it is about. */
  transaction?: string;
};
type Read = (found: Data) => Found | ReturnType<typeof unreadable>;
type Silence = Unknown & { providerRequestId: string | null };
type LookUp = (path: string, number: string, read: Read) => Promise<Found | Silence | null>;

/** Reasons that a repeat would meet again: such a row stays, as a break by its name. */
const LASTING: ReadonlySet<string> = new Set(['unreadable', 'unrecognized']);

/** The answer to a look-up; null if it tells nothing, now and later. */
const lookedUp = (answer: Trace & (Found | NotFound | Unknown)): Found | Silence | null => {
  if (answer.kind === 'found') {
    const { providerRequestId: _, ...found } = answer;
    return found;
  }
  return answer.kind === 'not_found' || LASTING.has(answer.reason) ? null : answer;
};

async function entryOf(lookUp: LookUp, row: LedgerRow): Promise<LedgerEntry | Silence> {
  const model = row.model_responsible ?? '';
  const difference = BigInt(row.difference);
  const entry = {
    id: row.id,
    balanceMinor: BigInt(row.balance),
    at: new Date(row.createdAt),
    own: OWN.test(model),
  };
  const name = model === '' ? null : `${model}/${row.model_row ?? row.id}`;
  const unexplained = { ...entry, reference: name, amountMinor: difference, feeMinor: null };
  const path = PATHS[model.toLowerCase()];
  if (path === undefined || row.model_row == null) return unexplained;
  const isRefund = path === PATHS['refund'];
  const found = await lookUp(path, row.model_row, isRefund ? readRefund : readThing);
  if (found === null) return unexplained;
  const about = found.kind === 'found' ? await refunded(lookUp, found) : found;
  if (about.kind !== 'found') return about;
  const { kind: _, ...named } = about;
  const amountMinor = difference < 0n ? -about.amountMinor : about.amountMinor;
  const fee = { amountMinor, feeMinor: amountMinor - difference };
  return { ...entry, ...named, reference: about.reference ?? name, ...fee };
}

/** A refund that names its transaction by a number alone: it is of a charge, or else the deposit is its record. */
async function refunded(lookUp: LookUp, { transaction, ...found }: Found) {
  const of =
    transaction === undefined ? null : await lookUp('/transaction', transaction, readThing);
  if (of === null) return found;
  if (of.kind !== 'found') return of;
  const isOfCharge = of.reference === null || isCharge(of.reference);
  return isOfCharge
    ? found
    : { kind: found.kind, amountMinor: found.amountMinor, reference: of.reference };
}

/** True for our reference of a charge. */
const isCharge = (reference: string): boolean =>
  chargeReferences.toOurs(chargeReferences.toTheirs(reference)) !== null;

/** Our reference of a transaction, or its own if it is of no charge. */
const oursOf = (theirs: string): string => chargeReferences.toOurs(theirs) ?? theirs;

function readThing({ data }: Data): Found | ReturnType<typeof unreadable> {
  const parsed = thing.safeParse(data);
  if (!parsed.success) return unreadable();
  const { amount: whole, requested_amount: asked, reference: theirs } = parsed.data;
  const amountMinor = asked != null && asked < whole ? asked : whole;
  return { kind: 'found', amountMinor, reference: theirs == null ? null : oursOf(theirs) };
}

/** A refund: of ours by its marker, of a deposit by that one's, of a dispute, or one that was made on the dashboard. */
function readRefund({ data }: Data): Found | ReturnType<typeof unreadable> {
  const parsed = refundThing.safeParse(data);
  if (!parsed.success) return unreadable();
  const { amount: amountMinor, id } = parsed.data;
  const names = refundNames.parse(data);
  const found = { kind: 'found', amountMinor } as const;
  const marker = markerIn(names.merchant_note) ?? depositMarkerIn(names);
  if (marker !== null) return { ...found, reference: marker };
  const dispute = disputeIn(names);
  if (dispute !== null) return { ...found, reference: dispute, of: 'dispute' };
  const { reference: theirs, id: transaction } = transactionOf(names);
  if (theirs !== null && chargeReferences.toOurs(theirs) === null) {
    return { ...found, reference: theirs };
  }
  const made = { ...found, reference: id, of: 'refund' } as const;
  return theirs === null && transaction !== null ? { ...made, transaction } : made;
}
