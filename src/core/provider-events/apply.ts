import { isDatabaseUnavailable } from '../../platform/database/unavailable.js';
import { OverloadError } from '../../shared/batching.js';
import { ApiError } from '../../shared/errors.js';
import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';
import type { Providers } from '../providers/registry.js';
import { eventLogIds, type ProviderEvent } from './event.js';
import type { ProviderEventFacts } from './facts.js';
import { NOTHING_TO_APPLY } from './handler.js';
import type { ProviderEventReplayStore, ReplayEnd } from './replay.js';
import type { ProviderEventStore } from './store.js';
import type { ProviderEventReplayResult, ProviderEventResult } from './workflow-contract.js';

type Handled =
  | { done: true; outcome: string }
  | { done: false; reason: string; ends: 'processed' | 'ignored' | 'failed' };

const BROKEN = 'it could not be applied: the log of the worker says why';
const UNREADABLE_STILL = 'its adapter still cannot read the message';

type Deps = {
  events: ProviderEventStore;
  replays: ProviderEventReplayStore;
  facts: ProviderEventFacts;
  providers: Pick<Providers, 'messageReader'>;
  /** Pauses between attempts; after the last one the event ends. */
  scheduleMs: readonly number[];
  /** The time after which the dispatcher looks at an event whose workflow should have acted. */
  stallTimeoutMs: number;
  log: Log;
};

/** The ways to apply a stored event. */
export type ProviderEventApplication = ReturnType<typeof createProviderEventApplication>;

/**
 * Applies stored events, at first and again. The transition of the record decides, so earlier effects are not repeated.
 * Throws only while our own store is unavailable.
 */
export function createProviderEventApplication(deps: Deps) {
  const { events, scheduleMs, stallTimeoutMs, log } = deps;
  const handle = createHandle(deps);

  /** One attempt. `nextMs`: the pause before the next one, null after the last; `slackMs`: the dispatcher's patience. */
  async function attempt(
    event: ProviderEvent,
    { nextMs, slackMs }: { nextMs: number | null; slackMs: number },
  ): Promise<ProviderEventResult> {
    const { _id: id, provider } = event;
    const handled = await handle(event);
    if (handled.done) {
      await events.processed(id, handled.outcome);
      return { kind: 'done' };
    }
    const { reason, ends } = handled;
    if (nextMs !== null) {
      await events.postpone(id, reason, nextMs + slackMs);
      return { kind: 'retry' };
    }
    if (ends === 'processed') {
      await events.processed(id, reason);
      return { kind: 'done' };
    }
    log.warn({ ...eventLogIds(event), provider, reason }, `provider event ${ends}`);
    if (ends === 'failed') {
      await events.fail(id, reason);
      return { kind: 'failed', reason };
    }
    await events.ignore(id, reason);
    return { kind: 'done' };
  }

  async function applyStored(
    id: string,
    pause: { nextMs: number | null; slackMs: number },
  ): Promise<ProviderEventResult> {
    const event = await events.find(id);
    if (event?.status === 'failed') return { kind: 'failed', reason: event.result ?? BROKEN };
    if (event?.status !== 'received') return { kind: 'done' };
    return attempt(event, pause);
  }

  return {
    /**
     * The first attempt, in the process that received the message. If it fails, the dispatcher starts the event's
     * workflow.
     */
    applyFirst: (event: ProviderEvent) =>
      attempt(event, { nextMs: scheduleMs[0] ?? null, slackMs: 0 }),

    /** One attempt of the event's workflow. `nextMs`: the pause before the next one; null after the last. */
    applyProviderEvent: ({ id, nextMs }: { id: string; nextMs: number | null }) =>
      applyStored(id, { nextMs, slackMs: stallTimeoutMs }),

    /** One attempt of the dispatcher, for an event that has no workflow because too many of its type are open. */
    applyWithoutWorkflow: ({ _id: id, attempt_count: count }: ProviderEvent) =>
      applyStored(id, { nextMs: scheduleMs[count] ?? null, slackMs: 0 }),

    /** Carries out a replay, once. */
    replayProviderEvent: createReplaying(deps, handle),
  };
}

/** Applies all facts of an event. An error that is not our store's is logged, and is no reason to stop trying. */
function createHandle({ facts, log }: Deps) {
  return async (stored: ProviderEvent): Promise<Handled> => {
    const event = await facts.withOwner(stored, true);
    const outcomes = new Set<string>();
    try {
      for (const fact of event.facts) {
        const result = await facts.apply(fact, event);
        if (result.kind === 'unknown') {
          return { done: false, reason: result.reason, ends: result.ends };
        }
        outcomes.add(result.outcome);
      }
      failpoint('provider_event.applied');
      return { done: true, outcome: [...outcomes].join(', ') || NOTHING_TO_APPLY.outcome };
    } catch (error) {
      if (isUnavailable(error)) throw error;
      log.error({ err: error, ...eventLogIds(event) }, 'provider event not applied');
      return { done: false, reason: BROKEN, ends: 'failed' };
    }
  };
}

/** Applies an event for a replay. The result is the replay's end, whatever the event's was before. */
function createReplaying(
  { events, replays, facts, providers }: Deps,
  handle: (event: ProviderEvent) => Promise<Handled>,
) {
  /** Reads the stored copy of a message again, by an adapter that may know more than when it arrived. */
  async function readAgain(event: ProviderEvent): Promise<ProviderEvent | 'irrelevant' | null> {
    const { _id: id, port, provider, message } = event;
    const reading = providers.messageReader(port, provider)?.readStored(message);
    if (reading?.kind === 'event') {
      const occurred_at = reading.event.occurredAt;
      const read = { facts: facts.of(port, reading.event, id), occurred_at };
      await events.learn(id, read);
      return { ...event, ...read, reading: 'event' };
    }
    // The issuer's deadline for this authorization request has passed long ago.
    const isOver = reading?.kind === 'irrelevant' || reading?.kind === 'authorization';
    return isOver ? 'irrelevant' : null;
  }

  async function reapply(stored: ProviderEvent | null): Promise<ReplayEnd> {
    if (!stored) return { code: 'not_found', message: 'The event is not kept any more.' };
    const event = stored.reading === 'event' ? stored : await readAgain(stored);
    if (event === 'irrelevant') {
      await events.ignore(stored._id, event);
      return { outcome: event };
    }
    if (!event) return notApplied(UNREADABLE_STILL);
    const handled = await handle(event);
    if (!handled.done && handled.ends !== 'processed') return notApplied(handled.reason);
    const outcome = handled.done ? handled.outcome : handled.reason;
    await events.processed(event._id, outcome);
    return { outcome };
  }

  return async ({ id }: { id: string }): Promise<ProviderEventReplayResult> => {
    const replay = await replays.find(id);
    const event = replay && (await events.find(replay.event_id));
    if (replay?.status === 'pending') await replays.end(id, await reapply(event));
    // The event's own workflow, if it has one, may wait for this. The event does not say so any more if an earlier attempt has
    // processed it, whose worker died before it answered.
    return { waitingEventId: event?._id ?? null };
  };
}

const notApplied = (reason: string): ReplayEnd => ({
  code: 'not_applied',
  message: `Not applied: ${reason}.`,
});

/** Our own store cannot be asked or cannot take more now: the same attempt may succeed later. */
const isUnavailable = (error: unknown): boolean =>
  isDatabaseUnavailable(error) ||
  error instanceof OverloadError ||
  (error instanceof ApiError && error.status === 503);
