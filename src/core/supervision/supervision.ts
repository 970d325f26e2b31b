import type { Collection, Document } from 'mongodb';
import { updateAccepted } from '../../platform/database/accepted-updates.js';
import {
  createClaims,
  nextVersion,
  releaseClaims,
  stillClaimed,
  type Claimed,
} from '../../platform/database/claims.js';
import { MAX_STALL_TIMEOUTS, stallsOf, startedWithoutEffect, type RaisedStalls } from './stalls.js';

/** A record whose workflow the dispatcher checks at `next_check_at`; null once there is nothing left to do. */
export type Supervised = { _id: string; next_check_at: Date | null };

/**
 * Finds the records of a collection whose check is due, and reschedules them. `lastActivityField` is the time of a
 * record's last change.
 */
export function supervisionOf<R extends Supervised>(
  collection: Collection<R>,
  lastActivityField: keyof R & string,
  settings: { clock?: () => Date; stallTimeoutMs: number },
  stalls: Parameters<typeof stallsOf>[1],
) {
  const { clock = () => new Date(), stallTimeoutMs } = settings;
  const records = collection as unknown as Collection<Supervised & Document>;
  return {
    ...claimsOf(collection, { clock, stallTimeoutMs, projection: { timeline: 0 } }),
    ...stallsOf(collection, stalls, settings),

    /**
     * Sets the next check of records whose workflow was just started. The pause is twice the time since the record's last
     * change, within bounds: if workers are behind, waiting records are not started again and again. Records whose check
     * was changed since they were found are left alone.
     */
    async rescheduleCheck(found: readonly Supervised[]): Promise<void> {
      const now = clock();
      const unchangedMs = { $subtract: [now, `$${lastActivityField}`] };
      const longer = { $max: [{ $multiply: [2, unchangedMs] }, stallTimeoutMs] };
      const pauseMs = { $min: [longer, MAX_STALL_TIMEOUTS * stallTimeoutMs] };
      const next = { $add: [now, pauseMs] };
      const stalled = startedWithoutEffect(now, next);
      await updateAccepted(records, stillClaimed(found), [
        { $set: { next_check_at: next, claim: '$$REMOVE', stalled, version: nextVersion } },
      ]);
    },
  };
}

/** Claims the records of a collection whose check is due, for as long as a workflow may stall, and gives them back. */
export function claimsOf<R extends Supervised>(
  collection: Collection<R>,
  {
    clock = () => new Date(),
    stallTimeoutMs,
    projection,
  }: { clock?: () => Date; stallTimeoutMs: number; projection?: object },
) {
  const claims = createClaims(collection);
  return {
    claimDue: (limit: number): Promise<Claimed<R>> => {
      const now = clock();
      const until = new Date(now.getTime() + stallTimeoutMs);
      return claims.claimDue({ now, until, limit, ...(projection && { projection }) });
    },

    /** Gives claimed records back that could not be started. */
    releaseClaim: (claimed: readonly Supervised[]) => releaseClaims(collection, claimed),
  };
}

/** The store of supervised records, as the dispatcher uses it. */
type SupervisionStore<Due extends Supervised> = {
  claimDue(limit: number): Promise<Claimed<Due>>;
  releaseClaim(claimed: Due[]): Promise<void>;
  rescheduleCheck(claimed: Due[]): Promise<void>;
  raiseStalled(attentionAfterMs: number, now?: Date): Promise<RaisedStalls>;
  clearStalled(now?: Date): Promise<boolean>;
};

/** Starts the workflows of due records: each record alone, or in groups of those that share a workflow. */
type SupervisionStarter<Due extends Supervised> = {
  groupsOf: (due: Due[]) => Due[][];
  start: (group: Due[]) => Promise<void>;
};

/** A store of supervised records with the starter of their workflows, as the dispatcher uses them. */
export type SupervisedRecords = {
  store: SupervisionStore<Supervised>;
  starter: SupervisionStarter<Supervised>;
};

/** Joins a store with its starter. Their record types are checked here, so that the dispatcher can mix them. */
export const supervised = <Due extends Supervised>(
  store: SupervisionStore<Due>,
  starter: { start(due: Due): Promise<void> },
): SupervisedRecords =>
  supervisedInGroups(store, {
    groupsOf: (due) => due.map((record) => [record]),
    async start(group) {
      for (const record of group) await starter.start(record);
    },
  });

/** The same for records that share workflows. */
export const supervisedInGroups = <Due extends Supervised>(
  store: SupervisionStore<Due>,
  starter: SupervisionStarter<Due>,
): SupervisedRecords => ({ store, starter }) as unknown as SupervisedRecords;
