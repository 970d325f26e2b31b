import { createHash } from 'node:crypto';
import type { Db } from 'mongodb';
import type { ClosedDayDocument, ClosingDocument, PostingDocument } from './collections.js';
import { lagosDay } from './wallet.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { DAY_MS } from '../../shared/durations.js';

/** The first moment of a day of the books, `YYYY-MM-DD` in Africa/Lagos (UTC+1 all the year round). */
export const startOfDay = (day: string): Date => new Date(`${day}T00:00:00.000+01:00`);

/** The first moment after a day. */
export const endOfDay = (day: string): Date => new Date(startOfDay(day).getTime() + DAY_MS);

/** True for a calendar day, `YYYY-MM-DD`. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(startOfDay(text).getTime()) &&
  lagosDay(startOfDay(text)) === text;

/** The collections of closings. */
export const closingCollections = (db: Db) => ({
  postings: db.collection<PostingDocument>('postings'),
  closings: db.collection<ClosingDocument>('ledger_closings'),
  days: db.collection<ClosedDayDocument>('ledger_days'),
});

/** Ids of documents that are named `<prefix>/…`: `0` is the character after `/`. */
export const idsUnder = (prefix: string) => ({ $gte: `${prefix}/`, $lt: `${prefix}0` });

/** The postings of a tenant on one day together, whatever their accounts are. */
export type DaySums = {
  postings: number;
  /** Ids of postings whose legs do not sum to zero; at most `MAX_UNBALANCED`. */
  unbalanced: string[];
  /** SHA-256 of the postings in the order of their time and id. */
  digest: string;
};

const MAX_UNBALANCED = 100;

/** Adds up postings one by one, which come in the order of their time and id. */
export function createDaySums() {
  const hash = createHash('sha256');
  const unbalanced: string[] = [];
  let postings = 0;
  return {
    add(posting: PostingDocument): void {
      postings += 1;
      hash.update(lineOf(posting));
      const sum = posting.legs.reduce((total, leg) => total + leg.amount_minor, 0n);
      if (sum !== 0n && unbalanced.length < MAX_UNBALANCED) unbalanced.push(posting._id);
    },
    result: (): DaySums => ({ postings, unbalanced, digest: hash.digest('hex') }),
  };
}

/** All that a posting says, as one line: its id, its time, and its legs in their order. */
const lineOf = ({ _id, at, legs }: PostingDocument): string =>
  `${JSON.stringify([
    _id,
    at.getTime(),
    legs.map(({ account, amount_minor: amountMinor }) => [account, String(amountMinor)]),
  ])}\n`;

/** Reads the postings of a tenant on one day in the order of their time and id. Keeps none of them. */
export async function sumDay(
  db: Db,
  tenantId: string,
  day: string,
  onPosting?: (posting: PostingDocument) => void,
): Promise<DaySums> {
  const sums = createDaySums();
  const found = closingCollections(db)
    .postings.find({ tenant_id: tenantId, at: { $gte: startOfDay(day), $lt: endOfDay(day) } })
    .sort({ at: 1, _id: 1 })
    .batchSize(1_000);
  for await (const posting of found) {
    sums.add(posting);
    onPosting?.(posting);
  }
  return sums.result();
}

/**
 * The next tenants with books after this one, in the order of ids; none after the last. Read from the indexes of postings, days
 * and wallets, so that neither a posting without a wallet nor a tenant whose postings are archived is left out.
 */
export async function nextTenants(db: Db, after: string, limit: number): Promise<string[]> {
  const { postings, days } = closingCollections(db);
  const later = [
    { $match: { tenant_id: { $gt: after } } },
    { $group: { _id: '$tenant_id' } },
    { $sort: { _id: 1 } },
    { $limit: limit },
  ];
  const comment = acrossTenants('report');
  const found = await Promise.all([
    postings
      .aggregate<{ _id: string }>(later, { hint: { tenant_id: 1, at: 1, _id: 1 }, ...comment })
      .toArray(),
    days
      .aggregate<{ _id: string }>(later, { hint: { tenant_id: 1, day: 1 }, ...comment })
      .toArray(),
    db
      .collection<{ _id: string }>('wallets')
      .find(
        { _id: { $gt: after } },
        { sort: { _id: 1 }, limit, projection: { _id: 1 }, ...comment },
      )
      .toArray(),
  ]);
  const ids = new Set(found.flat().map(({ _id }) => _id));
  return [...ids].toSorted(byBytes).slice(0, limit);
}

/** The order of MongoDB's indexes. */
export const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
