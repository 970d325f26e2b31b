import { cardOperations as operations } from './api.js';
import { auditCards } from './audit.js';
import { cards } from './card.js';
import { cardRoutes } from './routes.js';
import { supervised } from '../../core/supervision/supervision.js';
import { type CardStarters, createCardStarters } from './workflow-starter.js';
import { type CardOperations, createCardOperationStore, createCardStore } from './store.js';
import { cardOperations as cardOperationRecords } from './card-operation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { createCardStateChange } from '../card-states/create.js';
import { createCardExpiry } from '../card-states/expiry.js';
import { createCardFunding } from '../card-fundings/create.js';
import { createAuthorizations } from '../card-authorizations/index.js';
import { cardEventHandler } from './provider-events.js';
import { createCardCreation } from './create.js';

/** Creates the parts of cards, their states, fundings and authorizations. */
export function createCards(deps: CoreDeps) {
  const { config, database, groupCommit, client, providers, completionWaiters, log } = deps;
  const { attentionAfterMs, pollMaxMs, stallTimeoutMs } = config.instructions;
  const cards = createCardStore(database);
  const cardOperations = createCardOperationStore(database, stallTimeoutMs);
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
  // Auto-reloads are created inside other commits, so no caller starts their workflow: start it here.
  groupCommit.onCreated(cardOperationRecords, (created) => {
    created.filter(({ type }) => type === 'auto_reload').forEach(cardStarters.startSoon);
  });
  return {
    cards,
    cardOperations,
    cardStarters,
    authorizations,
    cardWatch: completionWaiters.create({ findEnded: (ids) => cards.issued(ids) }),
    cardOperationWatch: completionWaiters.create({
      findEnded: (ids) => cardOperations.findEnded(ids),
    }),
    createCard: createCardCreation({ groupCommit, starter: cardStarters, provider }),
    changeCardState: createCardStateChange({ groupCommit, starter: cardStarters }),
    expireCards: createCardExpiry({ db: database.db, groupCommit }),
    fundCard: createCardFunding({ groupCommit, starter: cardStarters }),
  };
}

/** The capability `cards`. */
export const cardCapability = defineCapability({
  name: 'cards',
  collections: [cards, cardOperationRecords],
  operations,
  audit: auditCards,
  routes: cardRoutes,
  providerEvents: cardEventHandler,
  supervised: (deps: { cardOperations: CardOperations; cardStarters: CardStarters }) => ({
    card_operations: supervised(deps.cardOperations, deps.cardStarters),
  }),
});
