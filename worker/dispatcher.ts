import { isGrpcServiceError, NamespaceNotFoundError } from '@temporalio/client';
import { logIdsOf } from '../src/composition/workflow-ids.js';
import type { SupervisedRecords, Supervised } from '../src/core/supervision/supervision.js';
import { readsOn, type ObserveClaims } from '../src/platform/database/claims.js';
import { failpoint } from '../src/shared/failpoints.js';
import type { Log } from '../src/shared/log.js';
import { createLoop, type Loop } from './loop.js';

const BATCH = 200;
/**
 * Starts in flight at once. Bounded, so that Temporal is not flooded when it returns after an outage. While it is away, no more
 * records than these are claimed: each claim is a write, and so is its end.
 */
const PARALLEL = 20;

/**
 * Starts the workflows of records whose next check is due: they were not started (the API died, Temporal was away), or
 * their records have not changed in time (terminated by an operator). Oldest first, one collection after the other. Each
 * worker claims the records that it starts, so several of them start each record once.
 */
export function createDispatcher(
  records: Readonly<Record<string, SupervisedRecords>>,
  log: Log,
  observe: ObserveClaims = () => undefined,
): Loop {
  /** The collections whose last page has failed. */
  const failed = new Set<string>();

  /** A collection that fails does not stop the others. */
  async function tick(): Promise<boolean> {
    let more = false;
    for (const [name, { store, starter }] of Object.entries(records)) {
      try {
        const about = { name, log, observe, limit: failed.has(name) ? PARALLEL : BATCH };
        const { started, left } = await startPage(store, starter, about);
        failed.delete(name);
        if (started > 0) log.info({ [name]: started }, 'dispatched');
        more ||= left;
      } catch (error) {
        failed.add(name);
        log.warn({ err: error, collection: name }, 'dispatch failed, trying again');
      }
    }
    return more;
  }

  return createLoop(tick);
}

/**
 * Claims a page of due records and starts their workflows. Ends early if Temporal is away, and gives the other records back;
 * a start that fails otherwise is rescheduled too. `left`: more records may be due.
 */
async function startPage(
  store: SupervisedRecords['store'],
  starter: SupervisedRecords['starter'],
  { name, log, observe, limit }: { name: string; log: Log; observe: ObserveClaims; limit: number },
): Promise<{ started: number; left: boolean }> {
  const page = await store.claimDue(limit);
  const { claimed, expired, refused = [] } = page;
  const left = readsOn(page);
  observe(name, { claimed: claimed.length, expired });
  for (const record of refused)
    log.error(
      logIdsOf(name, record),
      'record refused by its validator, its workflow is not started',
    );
  if (claimed.length === 0) return { started: 0, left };
  failpoint('dispatch.claimed');
  const queue = starter.groupsOf(claimed);
  const done: Supervised[] = [];
  const unstarted: Supervised[] = [];
  let away: unknown = null;
  const runner = async () => {
    while (away === null) {
      const next = queue.shift();
      if (!next) return;
      try {
        await starter.start(next);
        done.push(...next);
      } catch (error) {
        if (isAway(error)) {
          away = error;
          unstarted.push(...next);
        } else {
          const which = next[0] && logIdsOf(name, next[0]);
          log.error({ err: error, ...which }, 'workflow could not be started');
          done.push(...next);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, runner));
  if (done.length > 0) {
    failpoint('dispatch.started');
    await store.rescheduleCheck(done);
  }
  if (away === null) return { started: done.length, left };
  const released = [...unstarted, ...queue.flat()];
  await store.releaseClaim(released);
  observe(name, { released: released.length });
  throw away;
}

/**
 * gRPC codes of a Temporal that is away: cancelled, deadline exceeded, permission denied, resource exhausted, aborted,
 * internal, unavailable, unauthenticated.
 */
const GRPC_AWAY = new Set([1, 4, 7, 8, 10, 13, 14, 16]);

/**
 * True if Temporal takes no start now, so that the other starts need not be tried. A server that has just started does not
 * know its namespaces for a moment.
 */
function isAway(error: unknown): boolean {
  if (error instanceof NamespaceNotFoundError) return true;
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) && GRPC_AWAY.has(cause.code);
}
