import type { Db, Document } from 'mongodb';
import { duration, examine, pass, fail, type Check } from './check.js';

/** What is looked after every second and is still late by so much is looked after by nobody. */
const LATE_MS = 60_000;
const RECENT_MS = 24 * 60 * 60 * 1000;
/** Counting stops here. */
const MANY = 10_000;

const IS_DATE = { $type: 'date' } as const;
const NOT_READ = 'see the rows on MongoDB';
const UNATTENDED = 'no worker takes them up: see the rows on workers, and the log of the worker';

/** What waits, by the records: for a worker, for a receiver of webhooks, for an operator. */
export function examineBacklog(db: Db, now = new Date()): Promise<Check[]> {
  return Promise.all([
    examineOverdue(db, now, 'transfers', ['transfers', 'bulk_transfers']),
    examineAttention(db, now, 'transfers', 'transfers'),
    examineOverdue(db, now, 'cards', [
      'card_operations',
      'card_authorizations',
      'provider_event_replays',
    ]),
    examineAttention(db, now, 'cards', 'card_operations'),
    examineAttention(db, now, 'card-authorizations', 'card_authorizations'),
    examineOverdue(db, now, 'charges', ['charges', 'recurring_charges']),
    examineAttention(db, now, 'charges', 'charges'),
    examineOverdue(db, now, 'refunds', ['refunds']),
    examineAttention(db, now, 'refunds', 'refunds'),
    examine('callbacks: unapplied', NOT_READ, async () => {
      const open = { next_check_at: IS_DATE };
      const total = await count(db, 'callbacks', open);
      const late = await lateBy(db, 'callbacks', 'received_at', now, open);
      if (total === 0) return pass('none');
      const detail = `${total}, the oldest for ${duration(late)}`;
      if (late < LATE_MS) return pass(detail);
      return fail(detail, 'the worker applies them and says in its log why it could not');
    }),
    examine('provider events: not applied', NOT_READ, async () => {
      const late = await lateBy(db, 'provider_events', 'next_check_at', now);
      if (late >= LATE_MS) return fail(`overdue for ${duration(late)}`, UNATTENDED);
      const waiting = { 'attention.since': IS_DATE };
      const total = await count(db, 'provider_events', waiting);
      if (total === 0) return pass('none');
      return fail(`${total} wait to be replayed`, 'bursar provider-events list --attention');
    }),
    examineDeliveries(db, now),
    examine('webhooks: given up', NOT_READ, async () => {
      const dead = { status: 'dead' };
      const recent = { ...dead, 'attempts.at': { $gt: new Date(now.getTime() - RECENT_MS) } };
      const [total, lately] = [
        await count(db, 'webhook_deliveries', dead),
        await count(db, 'webhook_deliveries', recent),
      ];
      const detail = `${total}, ${lately} of them in the last 24 hours`;
      if (lately === 0) return pass(total === 0 ? 'none' : detail);
      return fail(detail, 'bursar webhooks deliveries list --dead, then redeliver');
    }),
  ]);
}

/** What should have been heard of by now, of everything that belongs to a capability. */
function examineOverdue(
  db: Db,
  now: Date,
  name: string,
  collections: readonly string[],
): Promise<Check> {
  return examine(`${name}: overdue`, NOT_READ, async () => {
    const each = collections.map((collection) => lateBy(db, collection, 'next_check_at', now));
    const late = Math.max(...(await Promise.all(each)));
    if (late === 0) return pass('none');
    const detail = `the oldest for ${duration(late)}`;
    if (late < LATE_MS) return pass(detail);
    return fail(detail, UNATTENDED);
  });
}

function examineAttention(db: Db, now: Date, name: string, collection: string): Promise<Check> {
  return examine(`${name}: attention`, NOT_READ, async () => {
    const waiting = { 'attention.since': IS_DATE };
    const oldest = await first(db, collection, waiting, { 'attention.since': 1 });
    if (!oldest) return pass('none');
    const waited = duration(now.getTime() - Number(oldest.attention.since));
    const detail = `${await count(db, collection, waiting)} wait for an operator, the oldest for ${waited}`;
    return fail(detail, `bursar ${name} list --attention`);
  });
}

/** One that waits for its receiver is late by nobody's fault; one that is overdue is looked after by nobody. */
function examineDeliveries(db: Db, now: Date): Promise<Check> {
  return examine('webhooks: undelivered', NOT_READ, async () => {
    const open = { next_check_at: IS_DATE };
    const total = await count(db, 'webhook_deliveries', open);
    if (total === 0) return pass('none');
    const age = await lateBy(db, 'webhook_deliveries', 'created_at', now, open);
    const late = await lateBy(db, 'webhook_deliveries', 'next_check_at', now);
    const detail = `${total}, the oldest for ${duration(age)}`;
    if (late < LATE_MS) return pass(detail);
    const overdue = `${detail}; overdue for ${duration(late)}`;
    return fail(overdue, UNATTENDED);
  });
}

/** How long ago the oldest of these times was; 0 where none has passed. */
async function lateBy(
  db: Db,
  collection: string,
  field: string,
  now: Date,
  filter: Document = { [field]: IS_DATE },
): Promise<number> {
  const oldest = await first(db, collection, filter, { [field]: 1 });
  return oldest ? Math.max(0, now.getTime() - Number(oldest[field])) : 0;
}

const first = (db: Db, collection: string, filter: Document, sort: Record<string, 1>) =>
  db.collection(collection).findOne(filter, { sort, projection: { ...sort } });

const count = (db: Db, collection: string, filter: Document) =>
  db.collection(collection).countDocuments(filter, { limit: MANY });
