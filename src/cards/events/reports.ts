/** What crosses Temporal: ids, times and our own words. Nothing that an issuer said may be added. */
export type CardEventInput = {
  id: string;
  /** Tries that were made already. */
  tries: number;
  /** The pauses between tries; after the last of them it is given up. Set at the start: a replay reads no settings. */
  scheduleMs: number[];
};

/** What a try came to. */
export type CardEventReport =
  { kind: 'done' } | { kind: 'again' } | { kind: 'failed'; reason: string };

export type ReplayInput = {
  id: string;
  /** Where replays are paced. */
  queue: string;
};

/** The event whose own workflow may wait for this, if any. */
export type ReplayReport = { waited: string | null };

export const cardEventWorkflowId = (id: string) => `card-event/${id}`;
export const replayWorkflowId = (id: string) => `replay/${id}`;
