import type { Collection, Filter } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import type { StoredRecord } from '../commit/collection.js';
import { removeSettled, webhookCollections } from '../webhooks/retention.js';
import { idempotencyKeysCollection, type KeyDocument } from '../ledger/collections.js';
import { idsUnder } from '../ledger/days.js';
import type { TimelineEntry } from '../instructions/instruction.js';
import type { ErasedRecords } from './erased-records.js';

type Stored = StoredRecord & { version: number; updated_at?: Date; timeline?: TimelineEntry[] };

/** The customer of a tenant, by the tenant's own id of it. */
type Subject = { tenantId: string; customerId: string };

/** Records that are read at once. */
const PAGE = 200;
/** Responses that are saved with a change of their record name a customer for 24 hours, and are removed within the next one. */
export const SAVED_RESPONSES_MS = 25 * 60 * 60 * 1000;

/** The reasons for which a customer cannot be erased yet, in words. */
export type Hindrances = {
  open: string[];
  /** The time from which no saved response has the customer any more; null if there is none now. */
  until: Date | null;
};

/** Finds what keeps a customer from being erased: work that is not over, open deliveries, and saved responses. */
export async function findHindrances(
  { db }: Pick<Database, 'db'>,
  erased: readonly ErasedRecords[],
  subject: Subject,
  now: Date,
): Promise<Hindrances> {
  const open: string[] = [];
  let until = 0;
  const ids: string[] = [];
  for await (const { of, page } of recordsOf(db, erased, subject)) {
    const [first, ...others] = page.filter(of.isOpen);
    if (first) open.push(nameOpen(of, first, others.length));
    until = Math.max(until, ...page.map(savedUntil));
    ids.push(...page.map(({ _id }) => _id));
  }
  const { deliveries } = webhookCollections(db);
  const waiting = await deliveries.countDocuments({
    tenant_id: subject.tenantId,
    resource_id: { $in: ids },
    status: { $in: ['pending', 'retrying'] },
  });
  if (waiting > 0) open.push(`${waiting} webhook deliveries`);
  return { open, until: until > now.getTime() ? new Date(until) : null };
}

/** The time until which there may be responses that were saved with a change of the record. */
const savedUntil = ({ updated_at: at }: Stored): number =>
  at ? at.getTime() + SAVED_RESPONSES_MS : 0;

const nameOpen = ({ label }: ErasedRecords, { _id }: Stored, others: number) =>
  others === 0 ? `${label}: ${_id}` : `${label}: ${_id} and ${others} more`;

/** The database, and the same over a connection without an operation limit. */
type Databases = { db: Database['db']; reports: Database['db'] };

/** The number of erased records by collection, and of removed webhook events. */
export type Erased = { records: Record<string, number>; events: number };

/**
 * Replaces the personal data of a customer in every record, and removes the webhook events about them with their deliveries.
 * Postings stay, and so does everything that the books need. It may be stopped at any moment and repeated. A record that
 * changes meanwhile keeps its newer state, and a repetition finds it.
 */
export async function eraseRecords(
  { db, reports }: Databases,
  erased: readonly ErasedRecords[],
  subject: Subject,
  now: Date,
): Promise<Erased> {
  const result: Erased = { records: {}, events: 0 };
  const ids: string[] = [];
  const isOld = (record: Stored) => savedUntil(record) <= now.getTime();
  for await (const { of, page } of recordsOf(db, erased, subject)) {
    const { name } = of.collection;
    for (const record of page) {
      const { _id, tenant_id, version } = record;
      // A commit that has read the record before finds another version, and reads it again.
      const { modifiedCount } = await db.collection<Stored>(name).updateOne(
        { _id, tenant_id, version },
        {
          $set: of.erased(record),
          // The tenant chose the one, and operators wrote the other: either may name the person.
          $unset: {
            http_request_id: true,
            ...(record.timeline && { 'timeline.$[].internal': true }),
          },
          $inc: { version: 1 },
        },
      );
      result.records[name] = (result.records[name] ?? 0) + modifiedCount;
    }
    result.events += await removeEvents(db, page);
    ids.push(...page.filter(isOld).map(({ _id }) => _id));
  }
  // Last, so that it also finds the answers to requests that came after the check of `findHindrances`.
  await removeAnswers({ db, reports }, subject, ids);
  return result;
}

/**
 * Removes the saved responses that show these records. The records have not changed for as long as responses are saved, so these
 * are of requests that changed nothing, such as a verification. A repeat executes its request again. No index has the resource: the
 * keys of the tenant, which are those of one day, are read.
 */
async function removeAnswers(
  { db, reports }: Databases,
  { tenantId }: Subject,
  ids: readonly string[],
): Promise<void> {
  const { name } = idempotencyKeysCollection;
  const found = reports
    .collection<KeyDocument>(name)
    .find({ _id: idsUnder(tenantId), tenant_id: tenantId, resource_id: { $in: ids } })
    .project<{ _id: string }>({ _id: 1 });
  for await (const { _id } of found) {
    await db.collection<KeyDocument>(name).deleteOne({ _id, tenant_id: tenantId });
  }
}

/** Removes the webhook events of these records, whose bodies show them as they were. */
async function removeEvents(db: Database['db'], page: readonly Stored[]): Promise<number> {
  const collections = webhookCollections(db);
  const [first] = page;
  if (!first) return 0;
  const theirs = await collections.events
    .find(
      { tenant_id: first.tenant_id, resource_id: { $in: page.map(({ _id }) => _id) } },
      { projection: { tenant_id: 1, resource_id: 1 } },
    )
    .toArray();
  return theirs.length === 0 ? 0 : removeSettled(collections, theirs);
}

/** The records of a customer, page by page and in the order of the list. */
async function* recordsOf(
  db: Database['db'],
  erased: readonly ErasedRecords[],
  { tenantId, customerId }: Subject,
): AsyncGenerator<{ of: ErasedRecords; page: Stored[] }> {
  const found = new Map<string, string[]>();
  for (const of of erased) {
    const { name } = of.collection;
    const collection: Collection<Stored> = db.collection(name);
    const values = of.by.of ? (found.get(of.by.of.name) ?? []) : [customerId];
    const ids: string[] = [];
    let after = '';
    for (;;) {
      const filter = { tenant_id: tenantId, [of.by.field]: { $in: values }, _id: { $gt: after } };
      const page = await collection
        .find(filter as Filter<Stored>)
        .sort({ _id: 1 })
        .limit(PAGE)
        .toArray();
      if (page.length === 0) break;
      after = page.at(-1)?._id ?? '';
      ids.push(...page.map(({ _id }) => _id));
      yield { of, page };
    }
    found.set(name, ids);
  }
}
