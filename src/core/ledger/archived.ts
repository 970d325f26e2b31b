import type { Db, Document } from 'mongodb';
import type { TimelineEntry } from '../instructions/instruction.js';
import { timelineOfDeliveries } from '../webhooks/deliveries.js';
import type { Delivery } from '../webhooks/event.js';
import { readArchive } from './archive-file.js';
import { closingCollections } from './days.js';

/** Files of a tenant's archived days, from a day on, in one folder. */
type Archives = { db: Db; folder: string; tenantId: string; from: string };

/** A record of an archive, as its collection had it. */
export type ArchivedRecord = Document & { _id: string; created_at: Date };

/** All documents of the archived days from this one on, the oldest first. Throws an `ArchiveError` for a file that was changed. */
async function* documentsOf({ db, folder, tenantId, from }: Archives) {
  const { days } = closingCollections(db);
  const found = days
    .find({ tenant_id: tenantId, day: { $gte: from }, 'archived.removed_at': { $type: 'date' } })
    .sort({ day: 1 });
  for await (const { archived } of found) if (archived) yield* readArchive(folder, archived);
}

/**
 * Finds a record in the archives, with its deliveries for its timeline; null if they do not have it. Reads the files from the
 * day of its creation on.
 */
export async function findArchived(
  archives: Archives,
  { collection, id }: { collection: string; id: string },
): Promise<{ record: ArchivedRecord; deliveries: TimelineEntry[] } | null> {
  let record: ArchivedRecord | null = null;
  const delivered: Delivery[] = [];
  for await (const line of documentsOf(archives)) {
    const { document } = line;
    if (line.collection === collection && document._id === id) record = document as ArchivedRecord;
    if (line.collection !== 'webhook_deliveries' || document['resource_id'] !== id) continue;
    if (document['delivered_at'] instanceof Date) delivered.push(document as unknown as Delivery);
  }
  const times = ({ delivered_at: at }: Delivery) => at?.getTime() ?? 0;
  const inOrder = delivered.toSorted((a, b) => times(a) - times(b));
  return record && { record, deliveries: timelineOfDeliveries(inOrder) };
}

/** The archived records of a collection that were created in this time, in their order in the files. */
export async function* archivedOf(
  archives: Archives,
  collection: string,
  { since, until }: { since: Date; until: Date },
): AsyncGenerator<ArchivedRecord> {
  for await (const { collection: name, document } of documentsOf(archives)) {
    const record = document as ArchivedRecord;
    if (name !== collection || record.created_at < since || record.created_at >= until) continue;
    yield record;
  }
}
