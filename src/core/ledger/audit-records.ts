import type { ClientSession, Db, Filter } from 'mongodb';
import { withSnapshot, type Database } from '../../platform/database/client.js';
import type { StoredRecord } from '../commit/collection.js';
import { ledgerCollections } from '../commit/store.js';
import type { AuditScope } from './audit.js';
import type { PageAudit, RecordWithPostings } from './audit-checks.js';
import type { PostingDocument } from './collections.js';
import { closingCollections, endOfDay, idsUnder, startOfDay } from './days.js';
import { accounts, FEES_OF_ALL_PROVIDERS } from './posting.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';

/** Records of one snapshot: few enough for a second, many enough that its cost does not count. */
const PAGE = 500;

type PageResult = {
  read: number;
  /** The id after which the next page begins; null if nothing is left. */
  last: string | null;
  problems: string[];
};

/** Audits one page of a collection at one moment, in the order of ids. */
export function auditPage(
  database: Database,
  { collection, check }: PageAudit,
  { tenantId, from }: AuditScope,
  after: string,
): Promise<PageResult> {
  return withSnapshot(database, async (db, session) => {
    const collections = ledgerCollections(db);
    const filter = {
      _id: { $gt: after },
      ...(tenantId != null && { tenant_id: tenantId }),
      ...(from != null && { updated_at: { $gte: startOfDay(from) } }),
    } as Filter<StoredRecord>;
    const records = await collections
      .records(collection)
      .find(filter, { session, projection: { timeline: 0 }, ...acrossTenants('report') })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray();
    const named = collections.postings.find(theirs(records), {
      session,
      ...acrossTenants('report'),
    });
    const postings = await readPostings(named);
    const archived = await archivedUntil(db, session, records);
    const page = records
      .filter((record) => !isBefore(record, archived.get(record.tenant_id)))
      .map((record) => withPostings(record, postings.get(record._id) ?? []));
    return {
      read: records.length,
      last: records.length === PAGE ? (records.at(-1)?._id ?? null) : null,
      problems: await check({ db, collections, session, records: page }),
    };
  });
}

/** The postings of these records: one range of the index of ids for each. */
function theirs(records: readonly StoredRecord[]): Filter<PostingDocument> {
  if (records.length === 0) return { _id: { $in: [] } };
  return { $or: records.map(({ _id }) => ({ _id: idsUnder(_id) })) };
}

/** Postings by the id of the record that they are named after. */
async function readPostings(
  found: AsyncIterable<PostingDocument>,
): Promise<Map<string, RecordWithPostings['postings']>> {
  const byRecord = new Map<string, RecordWithPostings['postings']>();
  for await (const { _id, legs } of found) {
    const record = _id.slice(0, _id.indexOf('/'));
    const list = byRecord.get(record);
    if (list) list.push({ _id, legs });
    else byRecord.set(record, [{ _id, legs }]);
  }
  return byRecord;
}

/** A record with its postings. Fees that an earlier release has booked are on the account of its provider, as today's are. */
function withPostings<R extends StoredRecord & { provider?: unknown }>(
  record: R,
  postings: RecordWithPostings['postings'],
): R & Pick<RecordWithPostings, 'postings'> {
  const feesOf = accounts.providerFees(String(record.provider));
  const ofProvider = (account: string) => (account === FEES_OF_ALL_PROVIDERS ? feesOf : account);
  return {
    ...record,
    postings: postings.map(({ _id, legs }) => ({
      _id,
      legs: legs.map((leg) => ({ ...leg, account: ofProvider(leg.account) })),
    })),
  };
}

/** The end of the last archived day of each tenant of a page. */
async function archivedUntil(
  db: Db,
  session: ClientSession,
  records: readonly StoredRecord[],
): Promise<Map<string, Date>> {
  const tenants = [...new Set(records.map(({ tenant_id: tenantId }) => tenantId))];
  const found = await closingCollections(db)
    .days.aggregate<{ _id: string; day: string }>(
      [
        { $match: { tenant_id: { $in: tenants }, archived: { $exists: true } } },
        { $group: { _id: '$tenant_id', day: { $max: '$day' } } },
      ],
      { session },
    )
    .toArray();
  return new Map(found.map(({ _id, day }) => [_id, endOfDay(day)]));
}

/** True for a record some of whose postings may be archived: an archive takes postings by their day, whatever they are of. */
const isBefore = (record: StoredRecord & { created_at?: Date }, archivedUntil: Date | undefined) =>
  archivedUntil !== undefined &&
  record.created_at !== undefined &&
  record.created_at < archivedUntil;
