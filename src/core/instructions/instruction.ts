import type { AuditedState } from '../audit/entry.js';
import type { About } from '../providers/port.js';

/** `pending` until it is submitted, `processing` until its outcome is known. */
export type InstructionStatus = 'pending' | 'processing' | 'completed' | 'failed';

/**
 * Fields of every instruction: a record that a provider executes once and that is verified until its outcome is known,
 * for example a transfer. Its capability adds the money that it moves and the rules by which it ends.
 */
export type InstructionRecord = {
  _id: string;
  tenant_id: string;
  /** The `X-Request-Id` of the request that created it; missing if none did. */
  http_request_id?: string;
  version: number;
  /** Number of events so far, which is the sequence number of the latest one; 0 before the first. */
  event_sequence: number;
  status: InstructionStatus;
  provider: string;
  /** Submit permits granted so far. The next submission must name this number to get its permit. */
  submissions: number;
  /** Submissions that the provider explicitly did not accept. */
  rejected_submissions: number;
  polls: number;
  /** The provider's id of the prepared submission, or of what it has accepted; null or missing if it has named none. */
  handle?: string | null;
  /** The provider has declared this many handles void. */
  void_handles?: number;
  /** Time of the first submit permit, from which an idempotent provider recognizes repeats; null before it. */
  first_submitted_at: Date | null;
  /** Time of the first report that proves that the provider has the instruction; null before it. */
  acknowledged_at: Date | null;
  /** Nothing is submitted before this time; null if it may be submitted at once. */
  next_attempt_at: Date | null;
  attention: { since: Date; reason: string } | null;
  /** End of monitoring: until then the provider is polled although an operator has failed the record by force. */
  monitor_until: Date | null;
  /** The dispatcher then checks that a workflow executes this record; null once nothing is left to do. */
  next_check_at: Date | null;
  timeline: TimelineEntry[];
  created_at: Date;
  updated_at: Date;
};

/** The first check of a new record is due this long after acceptance, in case its process could not start the workflow. */
export const START_WITHIN_MS = 2_000;

/** The fields of an instruction that was just accepted and has no submission. */
export const freshSubmission = (now: Date) => ({
  submissions: 0,
  rejected_submissions: 0,
  polls: 0,
  first_submitted_at: null,
  acknowledged_at: null,
  next_attempt_at: null,
  attention: null,
  monitor_until: null,
  next_check_at: new Date(now.getTime() + START_WITHIN_MS),
});

/**
 * A record as its provider is asked about it. A handle that has followed a void one may name the last submission alone; our
 * reference names them all.
 */
export const aboutOf = ({
  _id: reference,
  handle = null,
  void_handles: voidHandles = 0,
}: Pick<InstructionRecord, '_id' | 'handle' | 'void_handles'>): About => ({
  reference,
  handle: voidHandles === 0 ? handle : null,
});

/** True while the outcome is unknown. */
export const isOpen = ({ status }: Pick<InstructionRecord, 'status'>): boolean =>
  status === 'pending' || status === 'processing';

/** True for a record whose confirmation moves money through suspense: a payment without a hold, or of another amount. */
export function isInSuspense(record: InstructionRecord): boolean {
  const { in_suspense: booked, suspended = [] } = record as {
    in_suspense?: boolean;
    suspended?: readonly object[];
  };
  return suspended.length > 0 || (booked !== undefined && record.status === 'failed');
}

/** The state that an operator's act depends on: polls and attention do not change it. */
export const instructionState = (record: InstructionRecord | undefined): AuditedState =>
  record === undefined
    ? null
    : {
        status: record.status,
        submissions: record.submissions,
        monitored: record.monitor_until !== null,
        ...(isInSuspense(record) && { in_suspense: true }),
        ...('attempt' in record && { attempt: Number(record.attempt) }),
        // A record that gets several instructions one after another: an approval is for one of them.
        ...('instruction' in record && { instruction: String(record.instruction) }),
      };

/** True for a record that is open, has attention, or is monitored. */
export const needsWorkflow = (record: InstructionRecord): boolean =>
  isOpen(record) || record.attention !== null || record.monitor_until !== null;

/** Creates the function that adds our message to the code of a failure. A code without one gets the general message. */
export const failureWith =
  (messages: Readonly<Record<string, string>>, general: string) =>
  (code: string): { code: string; message: string } => ({
    code,
    message: messages[code] ?? general,
  });

/** A failure with the fields that clients may see. */
export const presentFailure = (failure: { code: string; message: string } | null) =>
  failure && { code: failure.code, message: failure.message };

/** Attention with the fields that clients may see. */
export const presentAttention = (attention: { since: Date; reason: string } | null) =>
  attention && { since: attention.since.toISOString(), reason: attention.reason };

/** Types of timeline entries; clients see them. */
export const TIMELINE_TYPES = [
  'accepted',
  'submitted',
  'provider_answer',
  'poll',
  'webhook',
  'operator',
  'captured',
  'credited',
  'completed',
  'released',
  'reversed',
  'suspense',
  'attention_raised',
  'attention_cleared',
  'webhook_delivered',
  'note',
] as const;
/** Type of a timeline entry. */
export type TimelineType = (typeof TIMELINE_TYPES)[number];

/** One entry of a record's timeline. `detail` is our own text, never a provider's: it may contain personal data. */
export type TimelineEntry = {
  at: Date;
  type: TimelineType;
  actor: string;
  detail: string | null;
  provider_request_id: string | null;
  /** For operators alone: who acted, and why. Tenants see that an operator acted, and what became of it. */
  internal?: string;
};

/** Makes a timeline entry. Missing fields become null. */
export function timelineEntry(
  at: Date,
  type: TimelineType,
  actor: string,
  extra: { detail?: string | null; providerRequestId?: string | null; internal?: string } = {},
): TimelineEntry {
  return {
    at,
    type,
    actor,
    detail: extra.detail ?? null,
    provider_request_id: extra.providerRequestId ?? null,
    ...(extra.internal !== undefined && { internal: extra.internal }),
  };
}

/**
 * The record's timeline with its webhook deliveries, by time. Deliveries are read from their own collection, because
 * writing them into the record would conflict with the commits that apply outcomes.
 */
export function timelineWithDeliveries(
  record: { timeline: TimelineEntry[] },
  deliveries: readonly TimelineEntry[],
): TimelineEntry[] {
  return [...record.timeline, ...deliveries].toSorted((a, b) => a.at.getTime() - b.at.getTime());
}
