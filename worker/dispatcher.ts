import { isGrpcServiceError } from '@temporalio/client';
import type { Log } from '../src/log.js';
import type { BatchStarter } from '../src/transfers/batch-starter.js';
import type { Batches } from '../src/transfers/batches.js';
import type { TransferStarter } from '../src/transfers/starter.js';
import type { Transfers } from '../src/transfers/store.js';
import type { Callbacks } from '../src/webhooks/callbacks.js';

const TICK_MS = 1_000;
const BATCH = 200;
/** Starts in flight at once: paced, so that a return of Temporal after an outage is not met by a flood. */
const PARALLEL = 20;

/**
 * Starts what was promised and is not driven: a record whose workflow was never started (the API died, Temporal was
 * away) or has gone silent (terminated by hand). Oldest first. Starting one that runs changes nothing, so several
 * workers may do this at once. Also applies callbacks that were stored and left.
 */
export function createDispatcher(deps: {
  transfers: Transfers;
  starter: TransferStarter;
  batches: Batches;
  batchStarter: BatchStarter;
  callbacks: Callbacks;
  log: Log;
}) {
  const { transfers, starter, batches, batchStarter, callbacks, log } = deps;
  const stopping = { now: false };
  let wakeUp: () => void = () => undefined;

  const startBatches = async () =>
    startAll(
      log,
      await batches.due(BATCH),
      (batch) => batchStarter.start(batch),
      (ids) => batches.postponeDue(ids),
    );
  const startTransfers = async () =>
    startAll(
      log,
      await transfers.due(BATCH),
      (transfer) => starter.start(transfer),
      (ids) => transfers.postponeDue(ids),
    );

  async function tick(): Promise<boolean> {
    try {
      const started = (await startBatches()) + (await startTransfers());
      const applied = await callbacks.sweep(BATCH);
      if (started + applied > 0) log.info({ started, applied }, 'dispatched');
      return started >= BATCH || applied === BATCH;
    } catch (error) {
      log.warn({ err: error }, 'dispatch failed, trying again');
      return false;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.now) {
      const more = await tick();
      if (more || stopping.now) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, TICK_MS);
        wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  return {
    run,
    stop() {
      stopping.now = true;
      wakeUp();
    },
  };
}

/** Starts what is due. Ends early when Temporal is away; a start that it refuses is put off like the others. */
async function startAll<Due extends { _id: string }>(
  log: Log,
  queue: Due[],
  start: (due: Due) => Promise<void>,
  postpone: (ids: string[]) => Promise<void>,
): Promise<number> {
  const done: string[] = [];
  const runner = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      try {
        await start(next);
      } catch (error) {
        if (isAway(error)) throw error;
        log.error({ err: error, record: next._id }, 'workflow refused by Temporal');
      }
      done.push(next._id);
    }
  };
  try {
    await Promise.all(Array.from({ length: PARALLEL }, runner));
  } finally {
    if (done.length > 0) await postpone(done);
  }
  return done.length;
}

const GRPC_REFUSED = new Set([3, 5, 6, 7, 9, 11]);

/** Whether Temporal could not be asked, rather than asked and refusing. */
function isAway(error: unknown): boolean {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return !(isGrpcServiceError(cause) && GRPC_REFUSED.has(cause.code));
}
