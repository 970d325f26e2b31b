import { TRANSACTION_OPTIONS, type Database } from '../../platform/database/client.js';
import type { StoredRecord } from '../commit/collection.js';
import type { StoredEvent } from '../webhooks/event.js';
import { removeSettled, webhookCollections } from '../webhooks/retention.js';
import type { ArchivedRecords } from './archive.js';
import { readArchive, type ArchiveLine } from './archive-file.js';
import type { ClosedDayDocument } from './collections.js';
import { closingCollections, endOfDay, startOfDay } from './days.js';

const CHUNK = 500;

type Removal = {
  database: Database;
  records: readonly ArchivedRecords[];
  folder: string;
};

/** The documents of one chunk, all of one collection. */
type Chunk = { collection: string; documents: ArchiveLine['document'][] };

/**
 * Removes the documents that an archive has, chunk by chunk; yields the number of removed ones. A repeat removes what is left. The
 * file has been verified before.
 */
export async function* removeArchived(
  removal: Removal,
  day: ClosedDayDocument,
  file: { file: string; sha256: string },
): AsyncGenerator<{ collection: string; count: number }> {
  for await (const { collection, documents } of chunksOf(readArchive(removal.folder, file))) {
    const count = await removeChunk(removal, day, { collection, documents });
    yield { collection, count };
  }
}

async function* chunksOf(lines: AsyncIterable<ArchiveLine>): AsyncGenerator<Chunk> {
  let chunk: Chunk = { collection: '', documents: [] };
  for await (const { collection, document } of lines) {
    // Deliveries are removed with their events.
    if (collection === 'webhook_deliveries') continue;
    if (chunk.documents.length === CHUNK || chunk.collection !== collection) {
      if (chunk.documents.length > 0) yield chunk;
      chunk = { collection, documents: [] };
    }
    chunk.documents.push(document);
  }
  if (chunk.documents.length > 0) yield chunk;
}

async function removeChunk(
  { database, records }: Removal,
  { tenant_id: tenantId, day }: ClosedDayDocument,
  { collection, documents }: Chunk,
): Promise<number> {
  const { db } = database;
  const ids = documents.map(({ _id }) => _id);
  if (collection === 'postings') {
    const at = { $gte: startOfDay(day), $lt: endOfDay(day) };
    const own = { _id: { $in: ids }, tenant_id: tenantId, at };
    return (await closingCollections(db).postings.deleteMany(own)).deletedCount;
  }
  if (collection === 'webhook_events') {
    const events = documents as unknown as StoredEvent[];
    return removeSettled(webhookCollections(db), events);
  }
  const of = records.find((each) => each.collection.name === collection);
  return of ? removeRecords(database, of, tenantId, documents) : 0;
}

type Versioned = StoredRecord & { version?: unknown };

/**
 * Removes records that have not changed since they were exported, and subtracts them from their counts in the same
 * transaction, so that a repeat subtracts nothing twice.
 */
async function removeRecords(
  { client, db }: Database,
  { collection, ended, counts }: ArchivedRecords,
  tenantId: string,
  exported: readonly ArchiveLine['document'][],
): Promise<number> {
  const versions = new Map(exported.map((record) => [record._id, record['version']]));
  return client.withSession((session) =>
    session.withTransaction(async () => {
      const records = db.collection<Versioned>(collection.name);
      const found = await records
        .find({ _id: { $in: [...versions.keys()] }, tenant_id: tenantId, ...ended }, { session })
        .toArray();
      const same = found.filter(({ _id, version }) => versions.get(_id) === version);
      if (same.length === 0) return 0;
      await records.deleteMany(
        { _id: { $in: same.map(({ _id }) => _id) }, tenant_id: tenantId },
        { session },
      );
      if (counts) {
        const changes = counts.counter.sum(same.map(counts.removed));
        const writes = changes.map((change) => counts.counter.update(change));
        await db.collection(counts.counter.name).bulkWrite(writes, { session, ordered: false });
      }
      return same.length;
    }, TRANSACTION_OPTIONS),
  );
}
