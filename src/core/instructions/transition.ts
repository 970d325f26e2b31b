import { describeActor } from '../audit/entry.js';
import type { FactSource } from './fact.js';
import {
  isOpen,
  needsWorkflow,
  type InstructionRecord,
  timelineEntry,
  type TimelineType,
} from './instruction.js';

/** Effect of a fact on its record. `unchanged` (known already) and `stale` (outdated) write nothing. */
export type Verdict = 'applied' | 'unchanged' | 'stale' | 'attention';

/** The part of a transition that depends on the fact: the fields that it sets and its timeline entry. */
export type Change<R> = {
  set: Partial<R>;
  entry: [TimelineType, string];
  /** `applied` if it is missing. */
  verdict?: 'applied' | 'attention';
};

/** The provider is polled for this long after an operator has failed a record by force. */
export const MONITOR_MS = 24 * 60 * 60 * 1000;

/** The end of monitoring of a record that fails: an operator fails it, and its provider may have it. Null: there is none. */
export const monitoredUntil = (
  { submissions }: Pick<InstructionRecord, 'submissions'>,
  via: FactSource['via'],
  now: Date,
): Date | null =>
  via === 'operator' && submissions > 0 ? new Date(now.getTime() + MONITOR_MS) : null;

/** True for a rejection that counts only if nothing was submitted, while something was: the rejection says nothing about that. */
export const isOutdatedRejection = (
  { submissions }: Pick<InstructionRecord, 'submissions'>,
  fact: { kind: string; ifNotSubmitted?: boolean },
): boolean => fact.kind === 'rejected' && fact.ifNotSubmitted === true && submissions > 0;

/** Name of a fact on the timeline. A rejection has its code. */
export const labelOf = (fact: { kind: string; code?: string }): string =>
  fact.kind === 'rejected' ? `rejected: ${fact.code}` : fact.kind;

/** True for an answer or fact that proves that the provider has the instruction. */
export const provesArrival = (kind: string): boolean =>
  kind === 'pending' || kind === 'succeeded' || kind === 'issued' || kind === 'reversed';

/**
 * The record after a change. Every transition ends here: the fact and its effect are on the timeline in this order, the
 * version is one higher, and the dispatcher checks the record as long as it needs a workflow, and no longer.
 */
export function applyChange<R extends InstructionRecord>(
  record: R,
  fact: FactSource & { kind: string },
  label: string,
  { set, entry }: Change<R>,
  now: Date,
): R {
  const { via, providerRequestId, act } = fact;
  // Tenants read the timeline, but not who of us acted nor why.
  const { actor, note } = act ? { actor: 'operator', note: null } : fact;
  const internal = act ? { internal: describeActor(act) } : {};
  const detail = [label, note].filter((part) => part !== null).join('; ');
  const next: R = {
    ...record,
    ...(provesArrival(fact.kind) && { acknowledged_at: record.acknowledged_at ?? now }),
    ...set,
    version: record.version + 1,
    updated_at: now,
    timeline: [
      ...record.timeline,
      timelineEntry(now, via, actor ?? record.provider, { detail, providerRequestId, ...internal }),
      timelineEntry(now, entry[0], 'bursar', { detail: entry[1] }),
    ],
  };
  if (!needsWorkflow(next)) next.next_check_at = null;
  else next.next_check_at ??= now;
  return next;
}

/** Raises attention and moves no money. The same reason again changes nothing. */
export function raiseAttention(
  { attention }: Pick<InstructionRecord, 'attention'>,
  now: Date,
  reason: string,
): Change<Pick<InstructionRecord, 'attention'>> | 'unchanged' {
  if (attention?.reason === reason) return 'unchanged';
  return {
    set: { attention: { since: now, reason } },
    entry: ['attention_raised', reason],
    verdict: 'attention',
  };
}

/**
 * The effect of a rejection that does not fail its record: it is older than a submission, contradicts what has completed, or
 * ends monitoring. Null: the record is open, and fails. `contradiction` is the reason of attention, `nothing` the note.
 */
export function rejectionAfterEnd(
  record: InstructionRecord,
  fact: FactSource & { kind: string; ifNotSubmitted?: boolean },
  now: Date,
  { contradiction, nothing }: { contradiction: string; nothing: string },
): Change<Pick<InstructionRecord, 'attention' | 'monitor_until'>> | 'unchanged' | 'stale' | null {
  if (isOutdatedRejection(record, fact)) return 'stale';
  if (record.status === 'completed') return raiseAttention(record, now, contradiction);
  if (isOpen(record)) return null;
  if (record.monitor_until === null || fact.via === 'operator') return 'unchanged';
  return { set: { monitor_until: null }, entry: ['note', nothing] };
}
