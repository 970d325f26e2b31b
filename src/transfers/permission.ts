import { timelineEntry, type TimelineEntry, type Transfer } from './transfer.js';

/** Who asks to send: `sends` is how often the order has left so far, as the asker knows it. */
export type PermissionRequest = { sends: number; actor: string; dueAt: Date };

/** The state that a permission is given in. The first one makes the transfer `processing`. */
export const permittedIn = (sends: number) => (sends === 0 ? 'pending' : 'processing');

/**
 * The permission to send, made once: whoever names the present number of sends raises it and may send; nobody else
 * ever gets the same permission. Null for all others.
 */
export function permit(
  transfer: Transfer,
  { sends, actor, dueAt }: PermissionRequest,
  now: Date,
): Transfer | null {
  if (transfer.sends !== sends || transfer.status !== permittedIn(sends)) return null;
  return {
    ...transfer,
    status: 'processing',
    sends: sends + 1,
    version: transfer.version + 1,
    updated_at: now,
    due_at: dueAt,
    timeline: [...transfer.timeline, submitted(sends, actor, now)],
  };
}

export const submitted = (sends: number, actor: string, now: Date): TimelineEntry =>
  timelineEntry(now, 'submitted', actor, {
    detail: sends === 0 ? null : `sent again, attempt ${sends + 1}`,
  });
