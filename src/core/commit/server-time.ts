import type { Timestamp } from 'mongodb';

/**
 * A process's clock may be ahead of the database server's by this much. The time of the last operation stands still for
 * up to ten seconds on an idle server, so a smaller margin would hold back correct clocks.
 */
const MARGIN_MS = 60_000;

/**
 * The time of a decision: the clock of this process, but at most `MARGIN_MS` ahead of the database server's. A clock that
 * is wrong by days can't move a limit to a later day, and can't end an idempotency key early. `operationTime` is the
 * server's time at the last read of the transaction; without it nothing was read.
 */
export function boundedNow(operationTime: Timestamp | undefined, clock = new Date()): Date {
  if (!operationTime) return clock;
  const latest = operationTime.t * 1000 + MARGIN_MS;
  return clock.getTime() > latest ? new Date(latest) : clock;
}

/**
 * The time of the postings of a commit: that of its decision, but never before the database server's time. A process whose
 * clock is behind, or an acceptance that has waited, therefore can't book on a day that is closed.
 */
export function bookingTime(operationTime: Timestamp | undefined, now: Date): Date {
  if (!operationTime) return now;
  return new Date(Math.max(now.getTime(), operationTime.t * 1000));
}
