import type { Client } from '@temporalio/client';
import type { Config } from '../../shared/config.js';
import type { Database } from '../../platform/database/client.js';
import type { GroupCommit } from '../commit/group-commit.js';
import type { Log } from '../../shared/log.js';
import type { CompletionWaiters } from '../../shared/completion-waiter.js';
import type { ApplyProviderEvent, FindOwner, ProviderEvent } from './event.js';
import { createProviderEventHandling } from './handle.js';
import { createReceiveProviderEvent } from './receive.js';
import { createReplayCreation } from './replay.js';
import { createProviderEventReplayStore } from './replay-store.js';
import { createProviderEventRetention } from './retention.js';
import { createProviderEventStarter, createReplayStarter } from './starter.js';
import { createProviderEventStore } from './store.js';

/** What issuers tell about cards: taken, applied, applied again, put together. */
export function createProviderEvents(deps: {
  config: Pick<Config, 'instructions' | 'providerEvents' | 'temporal'>;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  /** Books what an event says, by the guard of its subject. */
  apply: ApplyProviderEvent;
  findOwner: FindOwner;
  completionWaiters: CompletionWaiters;
  log: Log;
}) {
  const { config, database, groupCommit, client, apply, findOwner, log } = deps;
  const { stallTimeoutMs } = config.instructions;
  const { retryMs: scheduleMs, retentionMs } = config.providerEvents;
  const { taskQueue } = config.temporal;
  const store = createProviderEventStore(database, stallTimeoutMs);
  const replays = createProviderEventReplayStore(database, groupCommit, stallTimeoutMs);
  const starter = createProviderEventStarter({ client, taskQueue, scheduleMs, log });
  const replayStarter = createReplayStarter({ client, taskQueue, log });
  return {
    store,
    starter,
    replays,
    replayStarter,
    replayWatch: deps.completionWaiters.create({ findEnded: (ids) => replays.ended(ids) }),
    handling: createProviderEventHandling({ events: store, replays, findOwner, apply, log }),
    receive: createReceiveProviderEvent({ events: store, findOwner, starter, log }),
    replay: createReplayCreation({ replays, starter: replayStarter }),
    removeOld: createProviderEventRetention({ db: database.db, retentionMs }),

    /** Whose it is, also if that has become known only since it came. Null for an event of no card of ours. */
    async owned(event: ProviderEvent) {
      if (event.tenant_id !== null)
        return { ...event, tenant_id: event.tenant_id, card_id: event.card_id };
      const owner = await findOwner(event.provider, event);
      if (owner) await store.give(event._id, owner);
      return owner && { ...event, tenant_id: owner.tenantId, card_id: owner.card };
    },

    async idle(): Promise<void> {
      await starter.idle();
      await replayStarter.idle();
    },
  };
}

export type ProviderEvents = ReturnType<typeof createProviderEvents>;
