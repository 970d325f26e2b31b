import type { Shared } from '../shared.js';
import { createCardControl } from './control/create.js';
import { createCardExpiry } from './control/expiry.js';
import { createCardFunding } from './funding/fund.js';
import { createAuthorizations } from './authorizations/authorizations.js';
import { createApplyCardEvent } from './events/apply.js';
import { createCardEvents } from './events/card-events.js';
import { createCardCreation } from './issuing/create.js';
import { createCardStarters } from './starters.js';
import { createCardOperationStore, createCardStore } from './store.js';

/** Everything that cards are made of; a line in deps.ts. */
export function createCards(deps: Shared) {
  const { config, database, groupCommit, client, providers, watches, log } = deps;
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
  const apply = createApplyCardEvent({
    groupCommit,
    cardOperations,
    cardStarters,
    authorizations,
  });
  const provider = providers.forCards.name;
  // Whoever's spending has made one fall due has not made it itself.
  groupCommit.onCreated(({ card_operations: created }) => {
    created.filter(({ type }) => type === 'auto_reload').forEach(cardStarters.startSoon);
  });
  return {
    cards,
    cardOperations,
    cardStarters,
    authorizations,
    cardWatch: watches.create({ findEnded: (ids) => cards.issued(ids) }),
    cardOperationWatch: watches.create({ findEnded: (ids) => cardOperations.ended(ids) }),
    createCard: createCardCreation({ groupCommit, starter: cardStarters, provider }),
    controlCard: createCardControl({ groupCommit, starter: cardStarters }),
    expireCards: createCardExpiry({ db: database.db, groupCommit }),
    fundCard: createCardFunding({ groupCommit, starter: cardStarters }),
    cardEvents: createCardEvents({ ...deps, apply }),
  };
}
