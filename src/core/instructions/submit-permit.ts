import type { InstructionRecord } from './instruction.js';
import { timelineEntry, type TimelineEntry } from './timeline.js';

/** Request for a submit permit. `submissions` is the number of submissions as the caller knows it. */
export type SubmitPermitRequest = { submissions: number; actor: string; dueAt: Date };

/** Status in which this permit is granted. The first permit makes the record `processing`. */
export const statusForPermit = (submissions: number) =>
  submissions === 0 ? 'pending' : 'processing';

/** The record with the permit granted, or null if the caller's number of submissions is not the present one. Pure. */
export function grantPermit<R extends InstructionRecord>(
  record: R,
  { submissions, actor, dueAt }: SubmitPermitRequest,
  now: Date,
): R | null {
  if (record.submissions !== submissions || record.status !== statusForPermit(submissions))
    return null;
  if (record.next_attempt_at && record.next_attempt_at > now) return null;
  return {
    ...record,
    status: 'processing',
    submissions: submissions + 1,
    version: record.version + 1,
    updated_at: now,
    next_check_at: dueAt,
    timeline: [...record.timeline, submittedEntry(submissions, actor, now)],
  };
}

/** Timeline entry of a submission. */
export const submittedEntry = (submissions: number, actor: string, now: Date): TimelineEntry =>
  timelineEntry(now, 'submitted', actor, {
    detail: submissions === 0 ? null : `submitted again, attempt ${submissions + 1}`,
  });
