/** Input of `providerEvent`. Histories keep it: nothing of the provider's message may be added. */
export type ProviderEventInput = {
  id: string;
  /** Attempts made so far. */
  attemptCount: number;
  /** Pauses between attempts; after the last one the event fails. Set at the start, because a replay reads no settings. */
  scheduleMs: number[];
};

/** Result of one attempt to apply an event. */
export type ProviderEventResult =
  { kind: 'done' } | { kind: 'retry' } | { kind: 'failed'; reason: string };

/** The input of the workflow of a replay. */
export type ProviderEventReplayInput = {
  id: string;
  /** Task queue of replays, with a rate limit of its own. */
  taskQueue: string;
};

/** The event whose own workflow, if it has one, may still wait for an operator; null if the event is not kept any more. */
export type ProviderEventReplayResult = { waitingEventId: string | null };

/** The id of the workflow that applies an event. */
export const providerEventWorkflowId = (id: string) => `provider-event/${id}`;
/** The id of the workflow of a replay. */
export const providerEventReplayWorkflowId = (id: string) => `provider-event-replay/${id}`;
