import type { Page, Trace } from './port.js';

/** Bound of the pages that one question reads. A list that is longer has no end for us. */
const MAX_PAGES = 1_000;

/** All items of a list, with the trace of its last page; or the answer that interrupted it. */
export async function readAll<Item, Other extends Trace & { kind: string }>(
  read: (cursor: string | null) => Promise<(Trace & Page<Item>) | Other>,
): Promise<
  | (Trace & { kind: 'all'; items: Item[] })
  | (Trace & { kind: 'unknown'; reason: 'unreadable' })
  | Exclude<Other, { kind: 'page' }>
> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer: (Trace & Page<Item>) | Other = await read(cursor);
    if (!isPage(answer)) return answer as Exclude<Other, { kind: 'page' }>;
    items.push(...answer.items);
    if (answer.next === null) {
      return { kind: 'all', items, providerRequestId: answer.providerRequestId };
    }
    cursor = answer.next;
  }
  return { kind: 'unknown', reason: 'unreadable', providerRequestId: null };
}

const isPage = <Item>(answer: { kind: string }): answer is Trace & Page<Item> =>
  answer.kind === 'page';
