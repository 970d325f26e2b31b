import type { Collection } from 'mongodb';
import { ApiError } from '../../shared/errors.js';
import type { Log } from '../../shared/log.js';
import { nextCheckIndex } from '../../platform/database/indexes.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import type { Transfer } from './transfer.js';

/** Pause between two counts of one process. Requests in between are decided by the last count. */
const COUNT_EVERY_MS = 2_000;
/** A backlog of this size takes minutes to shrink. */
const RETRY_AFTER_SECONDS = 30;
const MESSAGE =
  'Too many transfers wait for their outcome, because a provider answers too slowly. Nothing was accepted: try again later.';

/** Refuses new transfers while too many are open. */
export type IntakeLimit = ReturnType<typeof createIntakeLimit>;

/**
 * Creates the limit of open transfers. During a long outage of a provider each accepted transfer adds polls, and beyond the
 * limit they would exceed the provider's rate. The count is made in the background of requests, so it may lag by some
 * seconds of intake.
 */
export function createIntakeLimit(
  transfers: Collection<Transfer>,
  { maxOpen, log }: { maxOpen: number; log: Log },
) {
  let full = false;
  let countAt = 0;
  let counting: Promise<void> | null = null;

  async function count(): Promise<void> {
    try {
      const filter = { next_check_at: { $type: 'date' as const } };
      const options = { limit: maxOpen, hint: nextCheckIndex.key, ...acrossTenants('loop') };
      const now = (await transfers.countDocuments(filter, options)) >= maxOpen;
      if (now !== full)
        log.warn({ max_open: maxOpen }, now ? 'intake is closed' : 'intake is open');
      full = now;
    } catch (error) {
      log.warn({ err: error }, 'open transfers not counted, trying again');
    }
    countAt = performance.now() + COUNT_EVERY_MS;
    counting = null;
  }

  return {
    /** Throws `service_unavailable` with Retry-After while too many transfers are open. */
    check(): void {
      if (performance.now() >= countAt) counting ??= count();
      if (full) {
        throw new ApiError('service_unavailable', {
          message: MESSAGE,
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      }
    },
    idle: async () => void (await counting),
  };
}
