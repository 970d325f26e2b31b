import { pageMeta } from './transfer-wire.js';

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

/** The query of a list. */
export const query = (fields: Readonly<Record<string, string | number | boolean | undefined>>) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    ),
  ).toString();
