import type { Db, Document } from 'mongodb';
import { acrossTenants, BY_ID } from '../../platform/database/tenant-filters.js';
import { firstIdAt } from '../../shared/ids.js';
import { duration, fail, pass } from './check.js';

/** The hint of a row about messages of Paystack that do not arrive. */
export const CALLBACKS_HINT =
  'set the webhook address at Paystack to https://<this API>/api/v1/webhooks/payments/paystack, and check that its requests reach this API and that PAYSTACK_SECRET_KEY has the key that signs them';

/** Paystack repeats a message every three minutes at first, so within this time the messages of a record have come. */
const LATE_MS = 60 * 60 * 1000;
const COMPLETED = { provider: 'paystack', status: 'completed' };
/** Records whose ids have the time at which they were made: a query for the new ones needs no index of its own. */
const RECORDS = { transfers: 'transfer', charges: 'charge' } as const;

/**
 * Tells whether messages of Paystack still arrive, which only our records show. They do not if a transfer or a charge has completed
 * that was made after the last message: its own message never came. Both times have an hour of patience, so a message that is late
 * and the last record of a day report nothing. A record that an operator has decided may have no message.
 */
export async function examineCallbacks(
  db: Db,
  { retentionMs, now = new Date() }: { retentionMs: number; now?: Date },
) {
  const ago = (ms: number) => new Date(now.getTime() - ms);
  const options = { projection: { _id: 1 }, ...acrossTenants('report') };
  const last = await db
    .collection<{ _id: string; provider: string; received_at: Date }>('provider_events')
    .findOne(
      { provider: 'paystack' },
      { sort: { _id: -1 }, projection: { received_at: 1 }, ...acrossTenants('report') },
    );

  /** True if a transfer or a charge that was made since `since` has completed by `until`. */
  const hasCompleted = async (since: Date, until: Date): Promise<boolean> => {
    const found = Object.entries(RECORDS).map(([name, kind]) =>
      db.collection<Document & { _id: string }>(name).findOne(
        {
          ...COMPLETED,
          _id: { $gte: firstIdAt(kind, since) },
          completed_at: { $lte: until },
          'timeline.type': { $ne: 'operator' },
        },
        { ...options, sort: { _id: 1 }, ...BY_ID },
      ),
    );
    return (await Promise.all(found)).some((record) => record !== null);
  };

  // Older messages are removed.
  const kept = ago(retentionMs);
  if (last) {
    const detail = `the last one came ${duration(now.getTime() - last.received_at.getTime())} ago`;
    const since = new Date(Math.max(last.received_at.getTime(), kept.getTime()) + LATE_MS);
    return (await hasCompleted(since, ago(LATE_MS)))
      ? fail(`${detail}, and payments have completed without one since`, CALLBACKS_HINT)
      : pass(detail);
  }
  const isUsed =
    (await hasCompleted(kept, now)) ||
    (await db
      .collection('deposits')
      .findOne({ ...COMPLETED, created_at: { $gte: kept } }, options)) !== null;
  return isUsed ? fail('none came so far', CALLBACKS_HINT) : pass(`none so far; ${CALLBACKS_HINT}`);
}
