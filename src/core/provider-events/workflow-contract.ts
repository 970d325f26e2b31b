/** What crosses Temporal: ids, times and our own words. Nothing that an issuer said may be added. */
export type ProviderEventInput = {
  id: string;
  /** Tries that were made already. */
  tries: number;
  /** The pauses between tries; after the last of them it is given up. Set at the start: a replay reads no settings. */
  scheduleMs: number[];
};

/** What a try came to. */
export type ProviderEventResult =
  { kind: 'done' } | { kind: 'again' } | { kind: 'failed'; reason: string };

export type ProviderEventReplayInput = {
  id: string;
  /** Where replays are paced. */
  taskQueue: string;
};

/** The event whose own workflow may wait for this, if any. */
export type ProviderEventReplayResult = { waited: string | null };

export const providerEventWorkflowId = (id: string) => `provider-event/${id}`;
export const providerEventReplayWorkflowId = (id: string) => `provider-event-replay/${id}`;
