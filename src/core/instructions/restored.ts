import type { Collection } from 'mongodb';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { type InstructionRecord, timelineEntry } from './instruction.js';
import type { SubmitInput } from './workflow-contract.js';

/** The note on a record that may have been submitted after the backup that its database was restored from. */
const PRESUMED = 'the database was restored: it may have been submitted since the backup';

/** More permits than one record can have been granted between a backup and the loss of its database. */
const LOST_PERMITS = 1_000_000;

/** The submissions that the provider may have: at least the one that is presumed. */
const possible = { $max: [1, { $subtract: ['$submissions', '$rejected_submissions'] }] };

/** Prepares records of a database that was restored from a backup. */
export function restoredWrites({
  collection,
  clock,
  acquireSubmitPermit,
}: {
  collection: Collection<InstructionRecord>;
  clock: () => Date;
  acquireSubmitPermit: (permit: SubmitInput) => Promise<unknown>;
}) {
  return {
    /**
     * Counts a submission for each open record that has none that its provider may have, and raises the number of submissions
     * of every open record above all that were granted since the backup. Such a permit is unknown here, and a run of a newer
     * Temporal may name the next one: it gets none, so the record is verified before anything is submitted. Repeatable.
     * Returns the number of records.
     */
    async presumeSubmitted(): Promise<number> {
      const found = collection.find(
        { status: { $in: ['pending', 'processing'] }, next_check_at: { $type: 'date' } },
        { projection: { tenant_id: 1, submissions: 1 }, ...acrossTenants('loop') },
      );
      let presumed = 0;
      for await (const { _id, tenant_id, submissions } of found) {
        const unchanged = { _id, tenant_id, submissions };
        const first = submissions === 0;
        const permit = { tenantId: tenant_id, id: _id, submissions: 0, suppressTimeline: true };
        if (first) await acquireSubmitPermit(permit);
        const now = clock();
        const { modifiedCount } = await collection.updateOne(
          first ? { ...unchanged, submissions: 1 } : unchanged,
          [
            {
              $set: {
                submissions: { $add: ['$submissions', LOST_PERMITS] },
                rejected_submissions: {
                  $subtract: [{ $add: ['$submissions', LOST_PERMITS] }, possible],
                },
                // The earliest time that it can have been: providers recognize repeats for some time after it.
                first_submitted_at: first ? '$created_at' : '$first_submitted_at',
                version: { $add: ['$version', 1] },
                updated_at: now,
                timeline: {
                  $concatArrays: [
                    '$timeline',
                    [{ $literal: timelineEntry(now, 'note', 'bursar', { detail: PRESUMED }) }],
                  ],
                },
              },
            },
          ],
        );
        presumed += modifiedCount;
      }
      return presumed;
    },
  };
}
