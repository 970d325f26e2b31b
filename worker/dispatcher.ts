import { isGrpcServiceError } from '@temporalio/client';
import type { SupervisedRecords, Supervised } from '../src/core/supervision/supervision.js';
import { failpoint } from '../src/shared/failpoints.js';
import type { Log } from '../src/shared/log.js';
import { createLoop, type Loop } from './loop.js';

const BATCH = 200;
/** Starts in flight at once. Bounded, so that Temporal is not flooded when it returns after an outage. */
const PARALLEL = 20;

/**
 * Starts the workflows of records whose next check is due: they were not started (the API died, Temporal was away), or
 * their records have not changed in time (terminated by an operator). Oldest first, one collection after the other. Starting
 * a workflow that runs changes nothing, so several workers may do this at once.
 */
export function createDispatcher(
  records: Readonly<Record<string, SupervisedRecords>>,
  log: Log,
): Loop {
  /** A collection that fails does not stop the others. */
  async function tick(): Promise<boolean> {
    let more = false;
    for (const [name, { store, starter }] of Object.entries(records)) {
      try {
        const count = await startAll(log, store, starter);
        if (count > 0) log.info({ [name]: count }, 'dispatched');
        more ||= count === BATCH;
      } catch (error) {
        log.warn({ err: error, collection: name }, 'dispatch failed, trying again');
      }
    }
    return more;
  }

  return createLoop(tick);
}

/** Starts the workflows of due records. Ends early if Temporal is away; a start that fails otherwise is rescheduled too. */
async function startAll(
  log: Log,
  store: SupervisedRecords['store'],
  starter: SupervisedRecords['starter'],
): Promise<number> {
  const queue = await store.due(BATCH);
  if (queue.length > 0) failpoint('dispatch.found');
  const done: Supervised[] = [];
  let away: unknown = null;
  const runner = async () => {
    for (let next = queue.shift(); next && away === null; next = queue.shift()) {
      try {
        await starter.start(next);
      } catch (error) {
        if (isAway(error)) {
          away = error;
          return;
        }
        log.error({ err: error, record: next._id }, 'workflow could not be started');
      }
      done.push(next);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, runner));
  if (done.length > 0) {
    failpoint('dispatch.started');
    await store.rescheduleCheck(done);
  }
  if (away !== null) throw away;
  return done.length;
}

/** gRPC codes of a Temporal that is away: cancelled, deadline exceeded, resource exhausted, aborted, internal, unavailable. */
const GRPC_AWAY = new Set([1, 4, 8, 10, 13, 14]);

/** True if Temporal cannot be reached now, so that the other starts need not be tried. */
function isAway(error: unknown): boolean {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) && GRPC_AWAY.has(cause.code);
}
