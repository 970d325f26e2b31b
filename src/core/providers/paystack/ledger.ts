import { z } from 'zod';
import type { LedgerAnswer, LedgerEntry, LedgerWindow } from '../transfer-provider.js';
import { unreadable, withoutAbsence, type Data, type PaystackClient } from './client.js';
import { amount, currency, domain, numericId, reference } from './fields.js';
import { at, pageAfter, pageOf, PAGE_SIZE, query } from './lists.js';
import { chargeReferences } from './references.js';
import { markerIn } from './refund-wire.js';

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
type LedgerRow = z.infer<typeof ledgerRow>;

/** The thing behind a row. */
const thing = z.looseObject({
  amount,
  reference: reference.nullish().catch(null),
  merchant_note: z.string().nullish().catch(null),
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
  const read = (found: Data) => rowsOf(found, page, ours);
  const answer = withoutAbsence(await client.verify(request, signal, read));
  if (answer.kind !== 'page') return answer;
  const items: LedgerEntry[] = [];
  for (const row of answer.items) {
    const entry = await entryOf(client, row, takeTurn, signal);
    if ('kind' in entry) return { ...entry, providerRequestId: answer.providerRequestId };
    items.push(entry);
  }
  return { ...answer, items };
}

function rowsOf({ data, meta }: Data, page: number, ours: string) {
  const rows = z.array(ledgerRow).safeParse(data);
  if (!rows.success) return unreadable();
  const isOther = rows.data.some((row) => row.domain != null && row.domain !== ours);
  if (isOther) return { kind: 'unknown', reason: 'mismatch', fault: 'environment' } as const;
  const items = rows.data.filter((row) => row.currency === 'NGN');
  return { kind: 'page', items, next: pageAfter(meta, page, rows.data.length) } as const;
}

async function entryOf(
  client: PaystackClient,
  row: LedgerRow,
  takeTurn: () => Promise<void>,
  signal: AbortSignal,
): Promise<LedgerEntry | ReturnType<typeof unreadable>> {
  const model = row.model_responsible ?? '';
  const difference = BigInt(row.difference);
  const entry = {
    id: row.id,
    balanceMinor: BigInt(row.balance),
    at: new Date(row.createdAt),
    own: OWN.test(model),
  };
  const path = PATHS[model.toLowerCase()];
  if (path === undefined || row.model_row == null) {
    const name = model === '' ? null : `${model}/${row.model_row ?? row.id}`;
    return { ...entry, reference: name, amountMinor: difference, feeMinor: null };
  }
  await takeTurn();
  const request = { call: 'ledgerEntry', method: 'GET', path: at(path, row.model_row) } as const;
  const found = await client.verify(request, signal, readThing);
  if (found.kind !== 'found') return unreadable();
  const amountMinor = difference < 0n ? -found.amountMinor : found.amountMinor;
  return {
    ...entry,
    reference: found.reference ?? `${model}/${row.model_row}`,
    amountMinor,
    feeMinor: amountMinor - difference,
  };
}

function readThing({ data }: Data) {
  const parsed = thing.safeParse(data);
  if (!parsed.success) return unreadable();
  const { amount: amountMinor, reference: theirs, merchant_note: note } = parsed.data;
  const marker = markerIn(note);
  const ours = theirs == null ? null : (chargeReferences.toOurs(theirs) ?? theirs);
  return { kind: 'found', amountMinor, reference: marker ?? ours } as const;
}
