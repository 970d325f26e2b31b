import type { z } from 'zod';
import { DAY_MS } from '../../../shared/durations.js';
import { pageMeta } from './transfer-wire.js';

/** Rows of a page that are asked for. */
export const PAGE_SIZE = 100;

/** Enough for ten thousand rows: a longer list is asked for by a shorter window. */
const MAX_PAGES = 1_000;

/** The number of a page, from a cursor of ours; the first page without one. */
export const pageOf = (cursor: string | null): number =>
  cursor !== null && /^[0-9]{1,6}$/.test(cursor) ? Number(cursor) : 1;

/**
 * The cursor of the next page; null after the last. The list's own figures are trusted, and not the page size that was
 * asked for. Without figures the list ends with its first empty page.
 */
export function pageAfter(meta: unknown, page: number, rows: number): string | null {
  const pages = pageMeta.parse(meta)?.pageCount ?? null;
  const isLast = pages === null ? rows === 0 : page >= pages;
  return isLast || page >= MAX_PAGES ? null : String(page + 1);
}

/** A row of a list: parsed, or as it came if it cannot be read. */
type ParsedRow<Row> = { kind: 'row'; row: Row } | { kind: 'unreadable'; raw: unknown };

/**
 * The rows of a list, or null if there is none. Each is parsed by itself, because a list has the records of all tenants and of
 * the business itself: one that cannot be read must not hide the others.
 */
export function rowsOf<Row>(schema: z.ZodType<Row>, data: unknown): ParsedRow<Row>[] | null {
  if (!Array.isArray(data)) return null;
  return data.map((raw: unknown) => {
    const parsed = schema.safeParse(raw);
    return parsed.success ? { kind: 'row', row: parsed.data } : { kind: 'unreadable', raw };
  });
}

/** The path of one thing, named by its last part. */
export const at = (path: string, last: string) => `${path}/${encodeURIComponent(last)}`;

/** The query of a list. */
export const query = (fields: Readonly<Record<string, string | number | boolean | undefined>>) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    ),
  ).toString();

/** The question for a page of the refunds made since a time: from a day earlier, because the list is by Paystack's clock. */
export function refundList(since: Date, page: number) {
  const from = new Date(since.getTime() - DAY_MS).toISOString();
  const path = `/refund?${query({ from, perPage: PAGE_SIZE, page })}`;
  return { call: 'findRefunds', method: 'GET', path } as const;
}
