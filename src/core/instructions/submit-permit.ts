import type { Filter } from 'mongodb';
import type { ResendSafety } from '../providers/transfer-provider.js';
import { type InstructionRecord, timelineEntry, type TimelineEntry } from './instruction.js';

/**
 * Request for a submit permit. `submissions` is the number of submissions as the caller knows it, `handle` the provider's name for
 * the prepared submission, which is kept with the permit; null if there is no new one.
 */
export type SubmitPermitRequest = {
  submissions: number;
  actor: string;
  dueAt: Date;
  handle?: string | null;
};

/** Status in which this permit is granted. The first permit makes the record `processing`. */
export const statusForPermit = (submissions: number) =>
  submissions === 0 ? 'pending' : 'processing';

/** Condition of a permit to submit again: the provider's resend safety covers the record at this time. */
export function resendCondition(resendSafety: ResendSafety, now: Date): Filter<InstructionRecord> {
  if (resendSafety.kind !== 'idempotent') return { acknowledged_at: null };
  if (resendSafety.forMs === null) return {};
  return {
    $or: [
      { first_submitted_at: { $gt: new Date(now.getTime() - resendSafety.forMs) } },
      { $expr: { $eq: ['$submissions', '$rejected_submissions'] } },
    ],
  };
}

/** The record with the permit granted, or null if the caller's number of submissions is not the present one. Pure. */
export function grantPermit<R extends InstructionRecord>(
  record: R,
  { submissions, actor, dueAt, handle }: SubmitPermitRequest,
  now: Date,
): R | null {
  if (record.submissions !== submissions || record.status !== statusForPermit(submissions))
    return null;
  if (record.next_attempt_at && record.next_attempt_at > now) return null;
  return {
    ...record,
    ...(handle != null && { handle }),
    status: 'processing',
    submissions: submissions + 1,
    first_submitted_at: record.first_submitted_at ?? now,
    version: record.version + 1,
    updated_at: now,
    next_check_at: dueAt,
    timeline: [...record.timeline, submittedEntry(submissions, actor, now)],
  };
}

/** Thrown by a submission that has sent nothing, because it could not read what its call needs: its permit is returned. */
export class NotSubmitted extends Error {
  constructor(cause: unknown) {
    super('nothing was submitted: the data of the call could not be read', { cause });
    this.name = 'NotSubmitted';
  }
}

/** Timeline entry of a submission. */
export const submittedEntry = (submissions: number, actor: string, now: Date): TimelineEntry =>
  timelineEntry(now, 'submitted', actor, {
    detail: submissions === 0 ? null : `submitted again, attempt ${submissions + 1}`,
  });
