import { z } from 'zod';
import { createKeptList } from '../../../shared/cached-answers.js';
import type { Unknown } from '../port.js';
import { unreadable, type PaystackClient } from './client.js';
import { plain } from './fields.js';
import { PAGE_SIZE, query } from './lists.js';
import { NIP_CODES } from './nip-codes.js';
import { bankData, pageMeta, type BankData } from './transfer-wire.js';
import { unlessAborted } from '../../../shared/unless-aborted.js';

/** A bank as Paystack knows it. `code`: its code in requests. `id`: its number in a refund's account. */
type PaystackBank = { name: string; code: string; nipCode: string | null; id: string | null };

/** The banks of Paystack, read once an hour. */
export type PaystackBanks = ReturnType<typeof createPaystackBanks>;

/** `isWhole`: every row of the list could be read, so a code that is not in it is that of no bank. `at`: when it was read. */
type Listed = { kind: 'banks'; banks: readonly PaystackBank[]; isWhole: boolean; at: number };
type Silence = Unknown & { providerRequestId: string | null };

const MAX_PAGES = 50;
/** A code that is not in a list as old as this may be that of a new bank. */
const FRESH_MS = 60 * 60 * 1000;
/** All pages of the list are read within this time, whoever waits for them. */
const READ_WITHIN_MS = 10_000;

/**
 * Creates the list of banks. Requests take the code of the central bank or the one of the interbank network; Paystack
 * takes its own, so each request asks this list, which is cached.
 */
export function createPaystackBanks(
  client: PaystackClient,
  clock: () => number = () => performance.now(),
) {
  let silence: Silence = noList;
  const kept = createKeptList(async () => {
    const answer = await list(AbortSignal.timeout(READ_WITHIN_MS));
    if (answer.kind === 'banks') return answer;
    silence = answer;
    return null;
  }, clock);

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
    return { kind: 'banks', banks, isWhole, at: clock() };
  }

  return {
    list,
    /**
     * The bank of a code of either numbering; null if there is none. Unknown while Paystack has never listed its banks, or if
     * the bank may be in a row that cannot be read or be newer than the list.
     */
    async find(code: string, signal: AbortSignal): Promise<PaystackBank | null | Silence> {
      const listed = await unlessAborted(kept(), signal);
      if (listed === 'aborted') return timedOut;
      if (listed === null) return silence;
      const { banks, isWhole, at } = listed;
      const isProof = isWhole && clock() - at <= FRESH_MS;
      return (
        banks.find((bank) => bank.code === code) ??
        banks.find((bank) => bank.nipCode === code) ??
        (isProof ? null : noList)
      );
    },
  };
}

const noList = { ...unreadable(), providerRequestId: null };
const timedOut = { kind: 'unknown', reason: 'timeout', providerRequestId: null } as const;

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
