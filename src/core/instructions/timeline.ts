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
