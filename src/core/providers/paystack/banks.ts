import { z } from 'zod';
import type { Unknown } from '../port.js';
import { unreadable, type PaystackClient } from './client.js';
import { plain } from './fields.js';
import { PAGE_SIZE, query } from './lists.js';
import { NIP_CODES } from './nip-codes.js';
import { bankData, pageMeta, type BankData } from './transfer-wire.js';

/** A bank as Paystack knows it. `code`: its code in requests. `id`: its number in a refund's account. */
type PaystackBank = { name: string; code: string; nipCode: string | null; id: string | null };

/** The banks of Paystack, read once an hour. */
export type PaystackBanks = ReturnType<typeof createPaystackBanks>;

/** `isWhole`: every row of the list could be read, so a code that is not in it is that of no bank. */
type Known = { banks: readonly PaystackBank[]; isWhole: boolean };
type Listed = Known & { kind: 'banks' };
type Silence = Unknown & { providerRequestId: string | null };

const MAX_PAGES = 50;
const FRESH_MS = 60 * 60 * 1000;

/**
 * Creates the list of banks. Requests take the code of the central bank or the one of the interbank network; Paystack
 * takes its own, so each request asks this list, which is cached.
 */
export function createPaystackBanks(
  client: PaystackClient,
  clock: () => number = () => performance.now(),
) {
  let known: (Known & { at: number }) | null = null;

  async function readPage(cursor: string | null, signal: AbortSignal) {
    const fields = {
      country: 'nigeria',
      currency: 'NGN',
      include_nip_sort_code: true,
      use_cursor: true,
      perPage: PAGE_SIZE,
      ...(cursor !== null && { next: cursor }),
    };
    const path = `/bank?${query(fields)}`;
    return client.verify({ call: 'banks', method: 'GET', path }, signal, ({ data, meta }) => {
      const rows = z.array(z.unknown()).safeParse(data);
      if (!rows.success) return unreadable();
      const next = pageMeta.parse(meta)?.next ?? null;
      return { kind: 'rows', rows: rows.data.map(readBank), next } as const;
    });
  }

  /** All banks, page by page. An answer with a page missing is no list, and neither is one without any bank. */
  async function list(signal: AbortSignal): Promise<Listed | Silence> {
    const rows: Row[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer: Awaited<ReturnType<typeof readPage>> = await readPage(cursor, signal);
      if (answer.kind === 'not_found') return { ...answer, ...unreadable() };
      if (answer.kind === 'unknown') return answer;
      rows.push(...answer.rows);
      cursor = answer.next;
      if (cursor === null) break;
    }
    const banks = rows.flatMap((row) => (row.kind === 'bank' ? [row.bank] : []));
    if (cursor !== null || banks.length === 0) return noList;
    const isWhole = rows.every(({ kind }) => kind !== 'unreadable');
    known = { at: clock(), banks, isWhole };
    return { kind: 'banks', banks, isWhole };
  }

  return {
    list,
    /**
     * The bank of a code of either numbering; null if there is none. Unknown while Paystack does not list its banks, or if
     * the bank may be in a row that cannot be read.
     */
    async find(code: string, signal: AbortSignal): Promise<PaystackBank | null | Silence> {
      const fresh = known && clock() - known.at < FRESH_MS ? known : null;
      const listed = fresh ?? (await list(signal));
      if ('kind' in listed && listed.kind === 'unknown') return listed;
      const { banks, isWhole } = listed;
      return (
        banks.find((bank) => bank.code === code) ??
        banks.find((bank) => bank.nipCode === code) ??
        (isWhole ? null : noList)
      );
    },
  };
}

const noList = { ...unreadable(), providerRequestId: null };

/** A row of the list. `other`: no transfer can go there. */
type Row = { kind: 'bank'; bank: PaystackBank } | { kind: 'other' } | { kind: 'unreadable' };

function readBank(row: unknown): Row {
  const parsed = bankData.safeParse(row);
  if (!parsed.success) return { kind: 'unreadable' };
  return takesTransfers(parsed.data)
    ? { kind: 'bank', bank: bankOf(parsed.data) }
    : { kind: 'other' };
}

const takesTransfers = ({ type, active, is_deleted: gone, supports_transfer: takes }: BankData) =>
  plain(type) === 'nuban' && active && gone !== true && takes !== false;

/** The name of the field with the interbank code is not documented: without it, our table has the code. */
const bankOf = ({ name, code, nip_sort_code: nip, id }: BankData): PaystackBank => ({
  name,
  code,
  nipCode: nip ?? NIP_CODES.get(code) ?? null,
  id: id ?? null,
});
