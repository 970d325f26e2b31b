import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../../../shared/durations.js';
import { readAll } from '../pages.js';
import type { FindRefundsRequest } from '../payment-provider.js';
import { NOT_ASKED, type Trace, type Unknown } from '../port.js';
import { unreadable, withoutAbsence, type Data, type PaystackClient } from './client.js';
import { pageAfter, pageOf, refundList } from './lists.js';

/** Bounds of the kept lists: each has the refunds of all charges since a day. */
const KEPT = { max: 10, ttl: 60_000 };

/**
 * Creates the reading of the whole list of refunds for many questions: one reading serves all that take a list of its time,
 * about charges of one day (UTC). One list is read at a time, so that reports about many refunds leave the rate of calls to
 * others.
 */
export function createSharedRefundLists(client: PaystackClient) {
  const lists = new LRUCache<number, { readAt: number; list: RefundList }>(KEPT);
  let last: Promise<unknown> = Promise.resolve();

  async function read(
    day: number,
    { newEnough, mayGoOn }: Pick<Wanted, 'newEnough' | 'mayGoOn'>,
    signal: AbortSignal,
  ): Promise<RefundList> {
    const known = lists.get(day);
    if (known && known.readAt >= newEnough.getTime()) return known.list;
    const readAt = Date.now();
    const list = await readPages(client, { since: new Date(day), mayGoOn }, signal);
    if (list.kind === 'all') lists.set(day, { readAt, list });
    return list;
  }

  return ({ since, ...wanted }: Wanted, signal: AbortSignal) => {
    const day = since.getTime() - (since.getTime() % DAY_MS);
    const list = last.then(() => read(day, wanted, signal));
    last = list.catch(() => undefined);
    return list;
  };
}

type Wanted = {
  since: Date;
  newEnough: Date;
  mayGoOn?: FindRefundsRequest['mayGoOn'];
};

type RefundList = Awaited<ReturnType<typeof readPages>>;

/** All pages of the list, as they came. */
const readPages = (
  client: PaystackClient,
  { since, mayGoOn }: Pick<Wanted, 'since' | 'mayGoOn'>,
  signal: AbortSignal,
) =>
  readAll<Data, Trace & Unknown>(async (cursor) => {
    if (cursor !== null && mayGoOn && !(await mayGoOn())) {
      return NOT_ASKED;
    }
    const page = pageOf(cursor);
    const answer = await client.verify(refundList(since, page), signal, ({ data, meta }) => {
      if (!Array.isArray(data)) return unreadable();
      const items: Data[] = [{ data, meta }];
      return { kind: 'page', items, next: pageAfter(meta, page, data.length) } as const;
    });
    return withoutAbsence(answer);
  });
