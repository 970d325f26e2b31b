import type { Client } from '@temporalio/client';
import type { Config } from '../config.js';
import type { Database } from '../database/client.js';
import type { GroupCommit } from '../ledger/group-commit.js';
import type { Log } from '../log.js';
import type { Providers } from '../providers/registry.js';
import { ApiError } from '../errors.js';
import { createWatch } from '../watch.js';
import { createAuthorizations } from './authorizations/authorizations.js';
import { createCardCreation } from './issuing/create.js';
import type { ReceiveCardEvent } from './webhook-routes.js';
import { createCardStarters } from './starters.js';
import { createCardOperationStore, createCardStore } from './store.js';

/** Everything that cards are made of; a line in deps.ts. */
export function createCards(deps: {
  config: Config;
  database: Database;
  groupCommit: GroupCommit;
  client: Client;
  providers: Providers;
  log: Log;
}) {
  const { config, database, groupCommit, client, providers, log } = deps;
  const { attentionAfterMs, pollMaxMs, sweepSlackMs } = config.transfers;
  const cards = createCardStore(database);
  const cardOperations = createCardOperationStore(database, sweepSlackMs);
  const cardStarters = createCardStarters({
    client,
    taskQueue: config.temporal.taskQueue,
    policy: { attentionAfterMs, pollMaxMs },
    log,
  });
  const authorizations = createAuthorizations({
    config,
    database,
    groupCommit,
    client,
    cards,
    log,
  });
  const provider = providers.forCards.name;
  return {
    cards,
    cardOperations,
    cardStarters,
    authorizations,
    cardEvents: { receive: notYet },
    cardWatch: createWatch({ findEnded: (ids) => cards.issued(ids) }),
    cardOperationWatch: createWatch({ findEnded: (ids) => cardOperations.ended(ids) }),
    createCard: createCardCreation({ groupCommit, starter: cardStarters, provider }),
  };
}

/** Events are not kept yet: the issuer comes again with them. */
const notYet: ReceiveCardEvent = () => Promise.reject(new ApiError('service_unavailable'));
