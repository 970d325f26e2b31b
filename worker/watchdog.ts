import type { Db } from 'mongodb';
import type { SupervisedRecords } from '../src/core/supervision/supervision.js';
import { logIdsOf } from '../src/composition/workflow-ids.js';
import { logAttention } from '../src/core/supervision/attention-log.js';
import { STALLED } from '../src/core/supervision/stalls.js';
import { createLeasedWork } from '../src/platform/database/lease.js';
import type { Log } from '../src/shared/log.js';
import { createLoop, type Loop } from './loop.js';

/** Longest pause between two looks. */
const EVERY_MS = 10_000;

/**
 * Calls an operator for records whose workflow does nothing: its tasks fail, it was paused, or Temporal is away. The workflow
 * itself cannot raise attention then, so this reads the database alone. Attention ends when the workflow goes on. One worker at a
 * time looks: after a large outage each look has much to change.
 */
export function createWatchdog(
  supervised: Readonly<Record<string, SupervisedRecords>>,
  {
    attentionAfterMs,
    stallTimeoutMs,
    db,
    log,
  }: { attentionAfterMs: number; stallTimeoutMs: number; db: Db; log: Log },
): Loop {
  const everyMs = Math.min(EVERY_MS, stallTimeoutMs);
  const leased = createLeasedWork(db, { name: 'watchdog', everyMs });

  /** A collection that fails does not stop the others. True if records are left for the next look. */
  async function look(now: Date): Promise<boolean> {
    let left = false;
    for (const [name, { store }] of Object.entries(supervised)) {
      try {
        left = (await store.clearStalled(now)) || left;
        const { raised, records, more } = await store.raiseStalled(attentionAfterMs, now);
        for (const record of records)
          logAttention(log, { ...logIdsOf(name, record), reason: STALLED });
        if (raised > records.length)
          log.warn({ collection: name, raised }, 'workflows make no progress');
        left ||= more;
      } catch (error) {
        log.warn({ err: error, collection: name }, 'watchdog failed, trying again');
      }
    }
    return left;
  }

  return createLoop(
    () =>
      leased(look).catch((error: unknown) => {
        log.warn({ err: error }, 'watchdog has no lease, trying again');
        return false;
      }),
    everyMs,
  );
}
