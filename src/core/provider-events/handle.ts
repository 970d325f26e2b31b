import { OverloadError } from '../../shared/batching.js';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.js';
import { ApiError } from '../../shared/errors.js';
import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';
import type { ApplyCardEvent } from './event.js';
import type { StoredCardEvent } from './event.js';
import type { FindOwner } from './event.js';
import type { CardEventReplays, ReplayEnd } from './replay-store.js';
import type { ProviderEventResult, ProviderEventReplayResult } from './workflow-contract.js';
import type { CardEventStore } from './store.js';

type Handled = { done: true; outcome: string } | { done: false; reason: string; over: boolean };

const UNKNOWN_CARD = 'it is about no card of ours';
const NOT_THERE = 'it is about something that is not there';
const BROKEN = 'it could not be applied: the log of the worker says why';

type Deps = {
  events: CardEventStore;
  replays: CardEventReplays;
  findOwner: FindOwner;
  apply: ApplyCardEvent;
  log: Log;
};

/**
 * What is done with a stored event, at first and again: the guard of its subject decides, so an effect that happened
 * stays as it is. Throws only while our own store is away.
 */
export function createCardEventHandling(deps: Deps) {
  const { events, replays, log } = deps;
  const handle = createHandle(deps);

  return {
    /** One try of an event that came in. `nextMs`: when the next one follows; null after the last. */
    async applyCardEvent({
      id,
      nextMs,
    }: {
      id: string;
      nextMs: number | null;
    }): Promise<ProviderEventResult> {
      const event = await events.find(id);
      if (event?.status === 'failed') return { kind: 'failed', reason: event.result ?? BROKEN };
      if (event?.status !== 'received') return { kind: 'done' };
      const handled = await handle(event);
      if (handled.done) {
        await events.processed(id, handled.outcome);
        return { kind: 'done' };
      }
      const { reason, over } = handled;
      if (nextMs !== null) {
        await events.putOff(id, reason, nextMs);
        return { kind: 'retry' };
      }
      log.warn({ event: id, provider: event.provider, reason }, 'card event given up');
      await events.giveUp(id, reason, over ? 'ignored' : 'failed');
      return over ? { kind: 'done' } : { kind: 'failed', reason };
    },

    /** The same once more. What it comes to is the replay's end, whatever it was before. */
    async replayCardEvent({ id }: { id: string }): Promise<ProviderEventReplayResult> {
      const replay = await replays.find(id);
      const event = replay && (await events.find(replay.event_id));
      if (replay?.status === 'pending') await replays.end(id, await again(event));
      // Where the first try came to nothing, a run may wait for this.
      return { waitingEventId: event && event.attempt_count > 0 ? event._id : null };
    },
  };

  async function again(event: StoredCardEvent | null): Promise<ReplayEnd> {
    if (!event) return { code: 'not_found', message: 'The event is not kept any more.' };
    const handled = await handle(event);
    if (!handled.done) return { code: 'not_applied', message: `Not applied: ${handled.reason}.` };
    await events.processed(event._id, handled.outcome);
    return { outcome: handled.outcome };
  }
}

function createHandle({ events, findOwner, apply, log }: Deps) {
  async function ownerOf(event: StoredCardEvent) {
    const { _id: id, tenant_id: tenantId, card_id: card, provider } = event;
    if (tenantId !== null && card !== null) return { tenantId, card };
    const owner = await findOwner(provider, event);
    if (owner) await events.give(id, owner);
    return owner;
  }

  return async (event: StoredCardEvent): Promise<Handled> => {
    const owner = await ownerOf(event);
    if (!owner) return { done: false, reason: UNKNOWN_CARD, over: true };
    try {
      const applied = await apply(event, owner);
      failpoint('provider_event.applied');
      if (applied.kind === 'applied') return { done: true, outcome: applied.outcome };
      return { done: false, reason: NOT_THERE, over: needsNothing(event) };
    } catch (error) {
      if (isAway(error)) throw error;
      log.error({ err: error, event: event._id }, 'card event not applied');
      return { done: false, reason: BROKEN, over: false };
    }
  };
}

/** That we never heard of an authorization that was declined changes nothing. */
const needsNothing = ({ state }: StoredCardEvent): boolean =>
  state.subject === 'authorization' && state.state.kind !== 'cleared';

/** Our own store can't be asked or can't take more now: the same try may well succeed later. */
const isAway = (error: unknown): boolean =>
  isDatabaseUnavailable(error) ||
  error instanceof OverloadError ||
  (error instanceof ApiError && error.status === 503);
