import type { Act } from '../../core/audit/entry.js';
import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import {
  createWorkflowStarter,
  type InstructionStarterSettings,
} from '../../core/supervision/workflow-starter.js';
import { issuerRateLimitKey, providerQueue } from '../../platform/temporal/queues.js';
import type { Card } from '../cards/record.js';
import { cardOperations, type CardOperation } from '../cards/card-operation.js';
import {
  cardCapability,
  operationWorkflowId,
  type CardOperationStarter,
  type CardParts,
  type OperationKey,
} from '../cards/index.js';
import { cardStateOperations } from './api.js';
import { reconciledCardStates } from './comparison.js';
import { createCardStateChange } from './create.js';
import { createCardExpiry, createStateRechecks } from './store.js';
import { cardStateRoutes } from './routes.js';
import { cardStateContract, type CardStateInput } from './workflow-contract.js';
import { applyReportedState, recheckState, setOperatorLock } from './locks.js';
import { applyCardStateFact, expireCard } from './mutations.js';
import { cardStateEventHandler } from './provider-events.js';

/** The parts of card states: accepted changes, their workflow, and the expiry of cards. */
export type CardStateParts = ReturnType<typeof createCardStateParts>;

function createCardStateParts(core: CoreDeps, { cards }: { cards: Pick<CardParts, 'starter'> }) {
  const { database, groupCommit } = core;
  const starter = createCardStateStarter(starterSettings(core));
  cards.starter.register(['lock', 'unlock', 'close', 'state_reset'], starter);
  // These are created inside other commits, so no caller starts their workflow: start it here.
  groupCommit.onCreated(cardOperations, (created) => {
    for (const operation of created) {
      if (operation.type === 'state_reset') starter.startSoon(operation);
    }
  });
  return {
    starter,
    change: createCardStateChange({ groupCommit, starter }),
    expireCards: createCardExpiry({ db: database.db, groupCommit }),
    recheckStates: createStateRechecks({
      db: database.db,
      groupCommit,
      recheckMs: core.config.cards.stateRecheckMs,
    }),

    /** Locks a card until an operator lifts the lock (null). False: the card cannot be locked, or is so already. */
    setOperatorLock: async (
      { _id: card, tenant_id: tenantId }: Card,
      lock: { actor: string; reason: string } | null,
      act?: Act,
    ): Promise<boolean> =>
      (await groupCommit.commit(setOperatorLock, { tenantId, card, lock, ...(act && { act }) }))
        .verdict === 'applied',

    idle: starter.idle,
  };
}

/**
 * Starts, wakes and commands the workflow of a card's state. The workflow applies commands to its current operation, so
 * commands for an operation that has ended are refused here.
 */
export function createCardStateStarter(settings: InstructionStarterSettings): CardOperationStarter {
  const { taskQueue, policy } = settings;
  const starter = createWorkflowStarter<CardOperation, OperationKey>({
    ...settings,
    workflow: cardStateContract.type,
    workflowId: operationWorkflowId,
    entity: true,
    toStart({ tenant_id: tenantId, card_id: cardId, provider }) {
      const rateLimitKey = issuerRateLimitKey(provider);
      const queue = providerQueue(taskQueue, rateLimitKey);
      const input: CardStateInput = { tenantId, cardId, rateLimitKey, taskQueue: queue, policy };
      const summary = `card state of ${cardId} at ${provider}`;
      return { input, tenantId, provider, reference: cardId, amountMinor: null, summary };
    },
  });
  return {
    ...starter,
    command: async (operation, kind, payload) =>
      isOpen(operation)
        ? starter.command(operation, kind, payload)
        : { done: false, message: `The ${operation.type} is ${operation.status} already.` },
  };
}

/** The capability `card-states`: locks, unlocks and closings of cards. */
export const cardStateCapability = defineCapability({
  name: 'card-states',
  servedBy: 'cards',
  mutations: forwardable({
    applyCardStateFact,
    expireCard,
    applyReportedState,
    setOperatorLock,
    recheckState,
  }),
  needs: { cards: cardCapability },
  operations: cardStateOperations,
  create: createCardStateParts,
  routes: cardStateRoutes,
  providerEvents: cardStateEventHandler,
  reconciled: reconciledCardStates,
});
