import type { InstructionRecord } from './instruction.js';
import { timelineEntry, type TimelineEntry } from './timeline.js';

/** Who asks to send: `sends` is how often the order has left so far, as the asker knows it. */
export type SubmitPermitRequest = { submissions: number; actor: string; dueAt: Date };

/** The state that a permission is given in. The first one makes the record `processing`. */
export const statusForPermit = (submissions: number) =>
  submissions === 0 ? 'pending' : 'processing';

/**
 * The permission to send, made once: whoever names the present number of sends raises it and may send; nobody else
 * ever gets the same permission. Null for all others.
 */
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

export const submittedEntry = (submissions: number, actor: string, now: Date): TimelineEntry =>
  timelineEntry(now, 'submitted', actor, {
    detail: submissions === 0 ? null : `sent again, attempt ${submissions + 1}`,
  });
