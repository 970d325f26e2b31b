import type { SupervisedRecords } from '../src/core/supervision/supervision.js';
import { logIdsOf } from '../src/composition/workflow-ids.js';
import { logAttention } from '../src/core/supervision/attention-log.js';
import { STALLED } from '../src/core/supervision/stalls.js';
import type { Log } from '../src/shared/log.js';
import { createLoop, type Loop } from './loop.js';

/** Longest pause between two looks. */
const EVERY_MS = 10_000;

/**
 * Calls an operator for records whose workflow does nothing: its tasks fail, it was paused, or Temporal is away. The workflow
 * itself cannot raise attention then, so this reads the database alone. Attention ends when the workflow goes on.
 */
export function createWatchdog(
  supervised: Readonly<Record<string, SupervisedRecords>>,
  {
    attentionAfterMs,
    stallTimeoutMs,
    log,
  }: { attentionAfterMs: number; stallTimeoutMs: number; log: Log },
): Loop {
  /** A collection that fails does not stop the others. */
  async function look(): Promise<boolean> {
    for (const [name, { store }] of Object.entries(supervised)) {
      try {
        await store.clearStalled();
        const { raised, records } = await store.raiseStalled(attentionAfterMs);
        for (const record of records)
          logAttention(log, { ...logIdsOf(name, record), reason: STALLED });
        if (raised > records.length)
          log.warn({ collection: name, raised }, 'workflows make no progress');
      } catch (error) {
        log.warn({ err: error, collection: name }, 'watchdog failed, trying again');
      }
    }
    return false;
  }

  return createLoop(look, Math.min(EVERY_MS, stallTimeoutMs));
}
