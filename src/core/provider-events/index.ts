import type { Client } from '@temporalio/client';
import type { Database } from '../../platform/database/client.js';
import type { CompletionWaiters } from '../../shared/completion-waiter.js';
import type { Config } from '../../shared/config.js';
import type { Log } from '../../shared/log.js';
import type { GroupCommit } from '../commit/group-commit.js';
import type { Providers } from '../providers/registry.js';
import { createSecretBox } from '../webhooks/secrets.js';
import type { Sealing } from '../../platform/sealing/sealing.js';
import { createProviderEventApplication } from './apply.js';
import { createProviderEventFacts } from './facts.js';
import type { ProviderEventHandler } from './handler.js';
import { createReceiveProviderEvent } from './receive.js';
import { createProviderEventReplayStore, createReplayCreation } from './replay.js';
import { createProviderEventRetention } from './retention.js';
import { createProviderEventStarter, createReplayStarter } from './workflow-starter.js';
import { createProviderEventStore } from './store.js';

/** Creates the pipeline of provider events: stored, applied, replayed, removed when they are old. */
export function createProviderEvents(deps: {
  config: Pick<Config, 'instructions' | 'keyPeppers' | 'providerEvents' | 'temporal'>;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  startsEagerly: boolean;
  providers: Pick<Providers, 'messageReader'>;
  /** The handlers of all capabilities. */
  handlers: readonly ProviderEventHandler[];
  completionWaiters: CompletionWaiters;
  sealing: Sealing;
  log: Log;
}) {
  const { config, database, groupCommit, client, providers, handlers, log } = deps;
  const { stallTimeoutMs } = config.instructions;
  const { retryMs: scheduleMs, retentionMs } = config.providerEvents;
  const { taskQueue } = config.temporal;
  const secretBox = createSecretBox(deps.sealing, config.keyPeppers);
  const store = createProviderEventStore(database, stallTimeoutMs);
  const replays = createProviderEventReplayStore(database, groupCommit, stallTimeoutMs);
  const facts = createProviderEventFacts({ handlers, secretBox, events: store });
  const application = createProviderEventApplication({
    events: store,
    replays,
    facts,
    providers,
    scheduleMs,
    stallTimeoutMs,
    log,
  });
  const { startsEagerly, completionWaiters } = deps;
  const starting = { client, taskQueue, startsEagerly, completionWaiters, log };
  const replayStarter = createReplayStarter(starting);
  const { newEvent, receive, idle } = createReceiveProviderEvent({
    events: store,
    facts,
    application,
    log,
  });
  return {
    store,
    starter: createProviderEventStarter({ ...starting, scheduleMs, store, application }),
    replays,
    replayStarter,
    replayWatch: completionWaiters.create({ findEnded: (owned) => replays.ended(owned) }),
    application,
    newEvent,
    receive,
    replay: createReplayCreation({ replays, starter: replayStarter }),
    /** The event with its tenant and card, also if its card has become known only since it was stored. */
    withOwner: facts.withOwner,
    removeOld: createProviderEventRetention({ db: database.db, retentionMs }),

    /** Resolves when no first attempt and no start is in flight. */
    async idle(): Promise<void> {
      await idle();
      await replayStarter.idle();
    },
  };
}

/** The parts of the pipeline of provider events. */
export type ProviderEvents = ReturnType<typeof createProviderEvents>;
