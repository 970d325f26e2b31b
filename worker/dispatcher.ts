import { isGrpcServiceError } from '@temporalio/client';
import type { Authorizations } from '../src/capabilities/card-authorizations/index.js';
import type { CardEvents } from '../src/core/provider-events/index.js';
import type { CardStarters } from '../src/capabilities/cards/starters.js';
import type { CardOperations } from '../src/capabilities/cards/store.js';
import type { Supervised } from '../src/core/supervision/supervision.js';
import { failpoint } from '../src/shared/failpoints.js';
import type { Log } from '../src/shared/log.js';
import type { ChargeStarter, RefundStarter } from '../src/capabilities/charges/starters.js';
import type { Charges } from '../src/capabilities/charges/store.js';
import type { Refunds } from '../src/capabilities/refunds/store.js';
import type { RecurringStarter } from '../src/capabilities/recurring-charges/starter.js';
import type { RecurringCharges } from '../src/capabilities/recurring-charges/store.js';
import type { BatchStarter } from '../src/capabilities/bulk-transfers/starter.js';
import type { Batches } from '../src/capabilities/bulk-transfers/store.js';
import type { TransferStarter } from '../src/capabilities/transfers/starter.js';
import type { Transfers } from '../src/capabilities/transfers/store.js';
import type { Transfer } from '../src/capabilities/transfers/transfer.js';
import { createLoop, type Loop } from './loop.js';

const BATCH = 200;
/** Starts in flight at once: paced, so that a return of Temporal after an outage is not met by a flood. */
const PARALLEL = 20;

/**
 * Starts what was promised and is not driven: a record whose workflow was never started (the API died, Temporal was
 * away) or has gone silent (terminated by hand). Oldest first. Starting one that runs changes nothing, so several
 * workers may do this at once.
 */
export function createDispatcher(deps: {
  transfers: Transfers;
  starter: TransferStarter;
  batches: Batches;
  batchStarter: BatchStarter;
  cardOperations: CardOperations;
  cardStarters: CardStarters;
  charges: Charges;
  chargeStarter: ChargeStarter;
  refunds: Refunds;
  refundStarter: RefundStarter;
  recurringCharges: RecurringCharges;
  recurringStarter: RecurringStarter;
  authorizations: Pick<Authorizations, 'store' | 'starter'>;
  cardEvents: CardEvents;
  log: Log;
}): Loop {
  const { transfers, starter, batches, batchStarter, log } = deps;
  const { cardOperations, cardStarters, authorizations, cardEvents } = deps;
  const { charges, chargeStarter, refunds, refundStarter } = deps;

  /** After an outage there are many that nobody has started: these set out together. */
  const startTransfer = (due: Transfer) =>
    due.status === 'pending' ? starter.startTogether(due) : starter.start(due);

  const jobs = {
    batches: () => startAll(log, batches, batchStarter),
    started: () => startAll(log, transfers, { start: startTransfer }),
    cards: () => startAll(log, cardOperations, cardStarters),
    charges: () => startAll(log, charges, chargeStarter),
    refunds: () => startAll(log, refunds, refundStarter),
    recurring: () => startAll(log, deps.recurringCharges, deps.recurringStarter),
    authorizations: () => startAll(log, authorizations.store, authorizations.starter),
    provider_events: () => startAll(log, cardEvents.store, cardEvents.starter),
    provider_event_replays: () => startAll(log, cardEvents.replays, cardEvents.replayStarter),
  };

  /** One after the other; one may fail for ever, the others go on. */
  async function tick(): Promise<boolean> {
    let more = false;
    for (const [name, job] of Object.entries(jobs)) {
      try {
        const count = await job();
        if (count > 0) log.info({ [name]: count }, 'dispatched');
        more ||= count === BATCH;
      } catch (error) {
        log.warn({ err: error, job: name }, 'dispatch failed, trying again');
      }
    }
    return more;
  }

  return createLoop(tick);
}

/** Starts what is due. Ends early when Temporal is away; a start that fails otherwise is put off like the others. */
async function startAll<Due extends Supervised>(
  log: Log,
  store: { due(limit: number): Promise<Due[]>; rescheduleCheck(found: Due[]): Promise<void> },
  starter: { start(due: Due): Promise<void> },
): Promise<number> {
  const queue = await store.due(BATCH);
  if (queue.length > 0) failpoint('dispatch.found');
  const done: Due[] = [];
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

/** Cancelled, deadline exceeded, resource exhausted, aborted, internal, unavailable. */
const GRPC_AWAY = new Set([1, 4, 8, 10, 13, 14]);

/** Whether Temporal can't be asked now, so that the others need not be tried. */
function isAway(error: unknown): boolean {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) && GRPC_AWAY.has(cause.code);
}
