import type { Db, Document } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { firstIdAt } from '../../shared/ids.js';
import type { RecordCollection, StoredRecord } from '../commit/collection.js';
import type { Counter } from '../commit/counter.js';
import { settledEvents } from '../webhooks/retention.js';
import { ArchiveError, readArchive, writeArchive, type ArchiveLine } from './archive-file.js';
import { removeArchived } from './archive-removal.js';
import type { ClosedDayDocument } from './collections.js';
import { closingCollections, createDaySums, endOfDay, nextTenants, startOfDay } from './days.js';

/** Records of a capability that an archive takes. Declared in `defineCapability`. */
export type ArchivedRecords = {
  collection: RecordCollection;
  /** The filter of records that nothing changes any more. */
  ended: Document;
  /** The counts that have the records, and the change of them when a record is removed. */
  counts?: { counter: Counter; removed: (record: StoredRecord) => unknown };
};

/** Declares the archived records of a collection. */
export const archivedRecords = <R extends StoredRecord, C = never>(given: {
  collection: RecordCollection<R>;
  ended: Document;
  counts?: { counter: Counter<C>; removed: (record: R) => C };
}): ArchivedRecords => given as unknown as ArchivedRecords;

type Settings = {
  database: Database;
  records: readonly ArchivedRecords[];
  /** The folder of the files. */
  folder: string;
  /** Days before this one are archived, `YYYY-MM-DD`. */
  before: string;
  /** One tenant only. */
  tenantId?: string | null;
  /** Called after each step. */
  onStep?: (step: string) => void;
};

/** The archived days, the documents that were removed by collection, and the reason for each tenant that was left out. */
export type ArchiveResult = {
  archived: number;
  removed: Record<string, number>;
  refused: string[];
};

const TENANTS = 100;

/**
 * Moves closed days that are old into files, tenant by tenant and the oldest first: the postings of the day, and the records and
 * webhook events from before its end that nothing changes any more. Each day goes through these steps, and a command that died
 * continues with the first one that is not done:
 *
 * 1. The file is written and on disk.
 * 2. It is read back: its hash is right, and its postings are those that were closed.
 * 3. `ledger_days` names the file. From now on only this file counts.
 * 4. The documents of the file are removed. A record that has changed since stays; a later day takes it.
 * 5. `ledger_days` says that they are removed.
 */
export async function archiveDays(settings: Settings): Promise<ArchiveResult> {
  const { database, tenantId = null } = settings;
  const result: ArchiveResult = { archived: 0, removed: {}, refused: [] };
  let after = '';
  for (;;) {
    const tenants = tenantId === null ? await nextTenants(database.db, after, TENANTS) : [tenantId];
    for (const tenant of tenants) await archiveTenant(settings, tenant, result);
    after = tenants.at(-1) ?? '';
    if (tenantId !== null || tenants.length === 0) return result;
  }
}

async function archiveTenant(settings: Settings, tenantId: string, result: ArchiveResult) {
  const { days } = closingCollections(settings.database.db);
  const due = days
    .find({
      tenant_id: tenantId,
      day: { $lt: settings.before },
      'archived.removed_at': { $not: { $type: 'date' } },
    })
    .sort({ day: 1 });
  try {
    for await (const day of due) {
      await archiveDay(settings, day, result);
      result.archived += 1;
    }
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    result.refused.push(`${tenantId}: ${error.message}`);
  }
}

async function archiveDay(settings: Settings, day: ClosedDayDocument, result: ArchiveResult) {
  const { database, folder, onStep } = settings;
  const { days } = closingCollections(database.db);
  let archived = day.archived ?? null;
  if (archived === null) {
    const { tenant_id: tenantId } = day;
    const lines = linesOf(database.db, settings.records, day);
    const written = await writeArchive(folder, { tenantId, day: day.day }, lines);
    onStep?.('written');
    await verifyFile(folder, written, day);
    onStep?.('verified');
    archived = { file: written.file, sha256: written.sha256, at: new Date(), removed_at: null };
    const named = await days.updateOne(
      { ...keyOf(day), archived: { $exists: false } },
      { $set: { archived } },
    );
    // Another command has named its own file meanwhile, and removes its documents.
    if (named.matchedCount === 0) return;
    onStep?.('named');
  }
  await verifyFile(folder, archived, day);
  for await (const { collection, count } of removeArchived(settings, day, archived)) {
    result.removed[collection] = (result.removed[collection] ?? 0) + count;
    onStep?.('removed');
  }
  await days.updateOne(keyOf(day), { $set: { 'archived.removed_at': new Date() } });
  onStep?.('ended');
}

const keyOf = ({ _id, tenant_id }: ClosedDayDocument) => ({ _id, tenant_id });

/** Throws unless the file is complete and its postings are those of the closed day. */
async function verifyFile(
  folder: string,
  file: { file: string; sha256: string },
  day: ClosedDayDocument,
): Promise<void> {
  const sums = createDaySums();
  for await (const { collection, document } of readArchive(folder, file)) {
    if (collection === 'postings') sums.add(document as Parameters<typeof sums.add>[0]);
  }
  if (sums.result().digest !== day.digest) {
    throw new ArchiveError(`the postings of ${day.day} are not those that were closed`);
  }
}

/** All documents of an archive: the postings in the order of the digest, then records, then events with their deliveries. */
async function* linesOf(
  db: Db,
  records: readonly ArchivedRecords[],
  { tenant_id: tenantId, day }: ClosedDayDocument,
): AsyncGenerator<ArchiveLine> {
  const postings = closingCollections(db)
    .postings.find({ tenant_id: tenantId, at: { $gte: startOfDay(day), $lt: endOfDay(day) } })
    .sort({ at: 1, _id: 1 });
  for await (const document of postings) yield { collection: 'postings', document };
  for (const { collection, ended } of records) {
    const old = { tenant_id: tenantId, created_at: { $lt: endOfDay(day) }, ...ended };
    const found = db.collection<StoredRecord>(collection.name).find(old);
    for await (const document of found) yield { collection: collection.name, document };
  }
  const before = firstIdAt('webhookDelivery', endOfDay(day));
  for await (const { event, deliveries } of settledEvents(db, tenantId, before)) {
    yield { collection: 'webhook_events', document: event };
    for (const document of deliveries) yield { collection: 'webhook_deliveries', document };
  }
}
