import { throwIfKeyReused, type SavedResponse, type Claim } from '../commit/saved-response.js';
import { newProviderEventReplay, type ProviderEvent } from './event.js';
import { presentReplay } from './presenter.js';
import type { ProviderEventReplayStore } from './replay-store.js';
import type { ReplayStarter } from './starter.js';

export type ReplayProviderEvent = (
  event: Pick<ProviderEvent, '_id' | 'provider'> & { tenant_id: string },
  claim: Claim | null,
) => Promise<{ answer: SavedResponse; resource: string | null; replayed: boolean }>;

/** Accepts a replay: one commit of the record, key and answer, then the start of its workflow. */
export function createReplayCreation(deps: {
  replays: ProviderEventReplayStore;
  starter: ReplayStarter;
  clock?: () => Date;
}): ReplayProviderEvent {
  const { replays, starter, clock = () => new Date() } = deps;
  return async (event, claim) => {
    const { tenant_id: tenantId } = event;
    const replay = newProviderEventReplay(event, clock());
    const body = JSON.stringify({ success: true, data: presentReplay(replay) });
    const answer = { status: 201, body };
    const outcome = throwIfKeyReused(await replays.accept({ tenantId, replay, claim, answer }));
    if (outcome.resource === replay._id) starter.startSoon(replay);
    return outcome;
  };
}
