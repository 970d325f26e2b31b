import { ApiError } from '../../errors.js';
import { newId } from '../../ids.js';
import type { Answer, Claim } from '../../ledger/view.js';
import type { CardEventReplay, StoredCardEvent } from './event.js';
import { presentReplay } from './presenter.js';
import type { CardEventReplays } from './replay-store.js';
import type { ReplayStarter } from './starter.js';

const START_WITHIN_MS = 2_000;

export type ReplayCardEvent = (
  event: Pick<StoredCardEvent, '_id' | 'provider'> & { tenant: string },
  claim: Claim | null,
) => Promise<{ answer: Answer; resource: string | null; replayed: boolean }>;

/** Accepts a replay: one commit of the record, key and answer, then the start of its workflow. */
export function createReplayCreation(deps: {
  replays: CardEventReplays;
  starter: ReplayStarter;
  clock?: () => Date;
}): ReplayCardEvent {
  const { replays, starter, clock = () => new Date() } = deps;
  return async ({ _id: event, tenant, provider }, claim) => {
    const now = clock();
    const replay: CardEventReplay = {
      _id: newId('replay'),
      tenant,
      event,
      provider,
      status: 'pending',
      outcome: null,
      failure: null,
      due_at: new Date(now.getTime() + START_WITHIN_MS),
      created_at: now,
      completed_at: null,
    };
    const body = JSON.stringify({ success: true, data: presentReplay(replay) });
    const answer = { status: 201, body };
    const outcome = await replays.accept({ kind: 'acceptReplay', tenant, replay, claim, answer });
    if (outcome.kind === 'key_reused') throw new ApiError('idempotency_key_reused');
    if (outcome.resource === replay._id) starter.startSoon(replay);
    return outcome;
  };
}
