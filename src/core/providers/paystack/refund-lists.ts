import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../../../shared/durations.js';
import { readAll } from '../pages.js';
import type { FindRefundsRequest } from '../payment-provider.js';
import { NOT_ASKED, type Trace, type Unknown } from '../port.js';
import { unreadable, withoutAbsence, type Data, type PaystackClient } from './client.js';
import { pageAfter, pageOf, refundList } from './lists.js';
import { unlessAborted } from '../../../shared/unless-aborted.js';

/** Bounds of the kept lists: each has the refunds of all charges since a day. */
const KEPT = { max: 10, ttl: 60_000 };
/** Bound of a reading from its turn, however long the question waits that has begun it: the next questions find its list. */
const READ_WITHIN_MS = 60_000;

const timedOut = { kind: 'unknown', reason: 'timeout', providerRequestId: null } as const;

/**
 * Creates the reading of the whole list of refunds for many questions: one reading serves all that take a list of its time,
 * about charges of its day (UTC) and of later ones. One list is read at a time, so that reports about many refunds leave the rate of
 * calls to others. Questions with a pace of their own have another turn, and bound their reading themselves.
 */
export function createSharedRefundLists(client: PaystackClient) {
  const lists = new LRUCache<number, { readAt: number; list: RefundList }>(KEPT);
  const turns: Record<'paced' | 'free', Promise<unknown>> = {
    paced: Promise.resolve(),
    free: Promise.resolve(),
  };

  const keptSince = (day: number, newEnough: Date) =>
    [...lists.entries()].find(
      ([first, { readAt }]) => first <= day && readAt >= newEnough.getTime(),
    )?.[1].list;

  async function read(
    day: number,
    { newEnough, mayGoOn }: Pick<Wanted, 'newEnough' | 'mayGoOn'>,
    signal: AbortSignal,
  ): Promise<RefundList> {
    const kept = keptSince(day, newEnough);
    if (kept) return kept;
    if (signal.aborted) return timedOut;
    const readAt = Date.now();
    const bound = mayGoOn ? signal : AbortSignal.timeout(READ_WITHIN_MS);
    const list = await readPages(client, { since: new Date(day), mayGoOn }, bound);
    if (list.kind === 'all') lists.set(day, { readAt, list });
    return list;
  }

  return async ({ since, ...wanted }: Wanted, signal: AbortSignal): Promise<RefundList> => {
    const day = since.getTime() - (since.getTime() % DAY_MS);
    const turn = wanted.mayGoOn ? 'paced' : 'free';
    const list = turns[turn].then(() => read(day, wanted, signal));
    turns[turn] = list.catch(() => undefined);
    const answer = await unlessAborted(list, signal);
    return answer === 'aborted' ? timedOut : answer;
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
