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
export type TimelineType = (typeof TIMELINE_TYPES)[number];

/** One step of a record's life. `detail` is in our words: codes and plain sentences, never a provider's text. */
export type TimelineEntry = {
  at: Date;
  type: TimelineType;
  actor: string;
  detail: string | null;
  provider_request_id: string | null;
};

/** A new timeline entry; what is not given is null. */
export function timelineEntry(
  at: Date,
  type: TimelineType,
  actor: string,
  extra: { detail?: string | null; providerRequestId?: string | null } = {},
): TimelineEntry {
  return {
    at,
    type,
    actor,
    detail: extra.detail ?? null,
    provider_request_id: extra.providerRequestId ?? null,
  };
}

/**
 * A record's own steps and what its tenant was told of them, in the order of time. Deliveries are read from where
 * they are kept: written into the record, they would compete with its settlement.
 */
export function timelineWithDeliveries(
  record: { timeline: TimelineEntry[] },
  deliveries: readonly TimelineEntry[],
): TimelineEntry[] {
  return [...record.timeline, ...deliveries].toSorted((a, b) => a.at.getTime() - b.at.getTime());
}
