import {
  ERASED_TEXT,
  erasedRecords,
  isInstructionOpen,
} from '../../core/erasure/erased-records.js';
import { formatMajor } from '../../shared/money.js';
import { issuerRateLimitKey } from '../../platform/temporal/queues.js';
import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import {
  createInstructionStarter,
  starterSettings,
  type InstructionStarterOptions,
} from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import type {
  InstructionStarterSettings,
  WorkflowStarter,
} from '../../core/supervision/workflow-starter.js';
import { cardOperations as operations } from './api.js';
import { auditCards } from './audit.js';
import { cards, isTerminal } from './record.js';
import { cardOperations, type CardOperation, type CardOperationType } from './card-operation.js';
import { createCardCreation } from './create.js';
import { presentOperationDetails, presentOperationRow } from './presenter.js';
import { cardEventHandler } from './provider-events.js';
import { cardRoutes } from './routes.js';
import { cardEvents } from './webhook-events.js';
import { createCardOperationStore, createCardStore } from './store.js';
import {
  cardIssuanceContract,
  operationWorkflowId,
  type OperationKey,
} from './workflow-contract.js';
import { acceptCard, applyIssuanceFact } from './mutations.js';

export { CARDS_TAG, cardParams, offsetListQuery } from './api.js';
export { presentOperation, presentSecurity, securityOf } from './presenter.js';
export { cardOperationEvents } from './webhook-events.js';
export {
  applyToOperation,
  createFindOwner,
  endOfUnknown,
  issuerEventHandler,
  NOT_THERE,
} from './provider-events.js';
export { reconciledOperations, type OperationComparisonDeps } from './comparison.js';
export { autoReloadSettings } from './create.js';
export type { OffsetListing } from './store.js';
export { operationWorkflowId, type OperationKey } from './workflow-contract.js';
export {
  cardOperationResource,
  cardResource,
  cardSecurityBody,
  cardSecurityResource,
  EXAMPLE_CARD,
  exampleOperation,
  exampleSecurity,
  autoReloadBody,
  exampleSettings,
  freeForm,
  fundingAmount,
  LEAST_FUNDING_MINOR,
  type AutoReloadBody,
} from './schema.js';

/** Starts, wakes and commands the workflow of an operation on a card. */
export type CardOperationStarter = WorkflowStarter<CardOperation, OperationKey>;

/** The parts of cards: the stores of cards and of their operations, and the starter of operations of all types. */
export type CardParts = ReturnType<typeof createCardParts>;

function createCardParts(core: CoreDeps) {
  const { config, database, groupCommit, providers, completionWaiters } = core;
  const store = createCardStore(database);
  const operations = createCardOperationStore(database, config.instructions.stallTimeoutMs);
  const issuance = createOperationStarter(starterSettings(core), {
    workflow: cardIssuanceContract.type,
  });
  const starter = createStarterByType();
  starter.register(['issue'], issuance);
  return {
    store,
    operations,
    starter,
    waiter: completionWaiters.create({ findEnded: (owned) => store.issued(owned) }),
    operationWaiter: completionWaiters.create({
      findEnded: (owned) => operations.findEnded(owned),
    }),
    create: createCardCreation({
      groupCommit,
      starter: issuance,
      issuer: providers.forCards,
    }),
    idle: issuance.idle,
  };
}

/** Creates a starter that passes every operation to the one that is registered for its type. */
function createStarterByType() {
  const starters = new Map<CardOperationType, CardOperationStarter>();

  function starterOf({ type }: Pick<CardOperation, 'type'>): CardOperationStarter {
    const starter = starters.get(type);
    if (!starter) throw new Error(`no workflow executes operations of type ${type}`);
    return starter;
  }

  return {
    /** Has operations of these types executed by the workflow of this starter. */
    register(types: readonly CardOperationType[], starter: CardOperationStarter): void {
      for (const type of types) starters.set(type, starter);
    },
    workflowId: (operation: CardOperation) => operationWorkflowId(operation),
    start: async (operation: CardOperation) => starterOf(operation).start(operation),
    startSoon: (operation: CardOperation) => starterOf(operation).startSoon(operation),
    notifyChangedSoon: (operation: OperationKey) =>
      starterOf(operation).notifyChangedSoon(operation),
    command: async (...[operation, kind, payload]: Parameters<CardOperationStarter['command']>) =>
      starterOf(operation).command(operation, kind, payload),
  };
}

/** Creates the starter of a workflow that executes one operation. `input` is needed if its input is not the usual one. */
export const createOperationStarter = (
  settings: InstructionStarterSettings,
  { workflow, input }: Pick<OperationStarterOptions, 'workflow' | 'input'>,
): CardOperationStarter =>
  createInstructionStarter<CardOperation, OperationKey>(settings, {
    workflow,
    workflowId: operationWorkflowId,
    rateLimitKey: issuerRateLimitKey,
    ...(input && { input }),
    summary({ type, card_id: card, amount_minor: amountMinor, currency, provider }) {
      const amount = amountMinor === null ? '' : ` ${currency} ${formatMajor(amountMinor)}`;
      return `${type} ${card}${amount} via ${provider}`;
    },
  });

type OperationStarterOptions = InstructionStarterOptions<CardOperation, OperationKey>;

/** The capability `cards`: cards, their issuance, and the records of all operations on them. */
export const cardCapability = defineCapability({
  name: 'cards',
  servedBy: 'cards',
  mutations: forwardable({ acceptCard, applyIssuanceFact }),
  collections: [cards, cardOperations],
  erased: [
    erasedRecords({
      collection: cards,
      label: 'cards that are not closed',
      by: { field: 'customer_id' },
      isOpen: (card) => (!isTerminal(card) && card.status !== 'failed') || card.open_holds > 0,
      erased: ({ locks }) => ({
        name: null,
        metadata: null,
        ...(locks.operator && { 'locks.operator.reason': ERASED_TEXT }),
      }),
    }),
    erasedRecords({
      collection: cardOperations,
      label: 'open card operations',
      by: { field: 'card_id', of: cards },
      isOpen: isInstructionOpen,
      erased: () => ({ reason: null, request_id: null, metadata: null }),
    }),
  ],
  operations,
  events: cardEvents,
  audit: auditCards,
  create: createCardParts,
  routes: cardRoutes,
  providerEvents: cardEventHandler,
  supervised: ({ cards: { operations: store, starter } }: { cards: CardParts }) => ({
    card_operations: supervised(store, starter),
  }),
  instruction: {
    labels: { record: 'operation', provider: cardIssuanceContract.labels.provider },
    records: ({ cards: { operations: store, starter } }: { cards: CardParts }) => ({
      store,
      starter,
    }),
    presentRow: (operation: CardOperation) => presentOperationRow(operation),
    presentDetails: presentOperationDetails,
  },
});
