import type { PursuedRecord } from './record.js';
import { timelineEntry, type TimelineEntry } from './timeline.js';

/** Who asks to send: `sends` is how often the order has left so far, as the asker knows it. */
export type PermissionRequest = { sends: number; actor: string; dueAt: Date };

/** The state that a permission is given in. The first one makes the record `processing`. */
export const permittedIn = (sends: number) => (sends === 0 ? 'pending' : 'processing');

/**
 * The permission to send, made once: whoever names the present number of sends raises it and may send; nobody else
 * ever gets the same permission. Null for all others.
 */
export function permit<R extends PursuedRecord>(
  record: R,
  { sends, actor, dueAt }: PermissionRequest,
  now: Date,
): R | null {
  if (record.sends !== sends || record.status !== permittedIn(sends)) return null;
  if (record.next_attempt_at && record.next_attempt_at > now) return null;
  return {
    ...record,
    status: 'processing',
    sends: sends + 1,
    version: record.version + 1,
    updated_at: now,
    due_at: dueAt,
    timeline: [...record.timeline, submitted(sends, actor, now)],
  };
}

export const submitted = (sends: number, actor: string, now: Date): TimelineEntry =>
  timelineEntry(now, 'submitted', actor, {
    detail: sends === 0 ? null : `sent again, attempt ${sends + 1}`,
  });
