import { erasedRecords } from '../../core/erasure/erased-records.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { forwardable } from '../../core/commit/mutation.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import {
  createWorkflowStarter,
  type WorkflowStarter,
} from '../../core/supervision/workflow-starter.js';
import { issuerRateLimitKey, providerQueue } from '../../platform/temporal/queues.js';
import { formatMajor } from '../../shared/money.js';
import { cardAuthorizationCapability } from '../card-authorizations/index.js';
import { cardOperations } from '../cards/card-operation.js';
import { cardCapability, createOperationStarter, type CardParts } from '../cards/index.js';
import { cards } from '../cards/record.js';
import { cardDisputeOperations } from './api.js';
import { auditCardDisputes } from './audit.js';
import { createCardDisputeCreation, issuerIn } from './create.js';
import { acceptCardDispute, applyCardDisputeFacts, cancelCardDispute } from './mutations.js';
import { cardDisputeEventHandler } from './provider-events.js';
import { cardDisputes, type CardDispute } from './record.js';
import { cardDisputeRoutes } from './routes.js';
import { createCardDisputeStore } from './store.js';
import { cardDisputeEvents } from './webhook-events.js';
import {
  cardDisputeContract,
  disputeWatchWorkflowId,
  type DisputeWatchInput,
} from './workflow-contract.js';

export type { CardDisputes } from './store.js';

/** The types of operations that this capability's workflow executes. */
const TYPES = ['dispute', 'dispute_withdrawal'] as const;

type CardDisputeParts = ReturnType<typeof createCardDisputeParts>;

function createCardDisputeParts(
  core: CoreDeps,
  { cards: { starter } }: { cards: Pick<CardParts, 'starter'> },
) {
  const { config, database, groupCommit, providers } = core;
  const watch = createWatchStarter(core);
  const own = createOperationStarter(starterSettings(core), { workflow: cardDisputeContract.type });
  starter.register(TYPES, own);
  groupCommit.onCreated(cardOperations, (created) => {
    for (const operation of created) {
      if (TYPES.some((type) => type === operation.type)) own.startSoon(operation);
    }
  });
  return {
    store: createCardDisputeStore(database, groupCommit, {
      stallTimeoutMs: config.instructions.stallTimeoutMs,
      terms: config.cards.authorizationTerms,
    }),
    watch,
    starter: own,
    create: createCardDisputeCreation({
      groupCommit,
      issuerOf: (provider) => issuerIn(providers, provider),
    }),
    async idle(): Promise<void> {
      await own.idle();
      await watch.idle();
    },
  };
}

/** Creates the starter of the workflow that asks the issuer about an open dispute. It takes no commands. */
const createWatchStarter = (core: CoreDeps): Omit<WorkflowStarter<CardDispute>, 'command'> =>
  createWorkflowStarter<CardDispute>({
    ...starterSettings(core),
    workflow: 'cardDisputeWatch',
    workflowId: ({ _id }) => disputeWatchWorkflowId(_id),
    toStart({ _id: id, tenant_id: tenantId, provider, operation_id: reference, ...dispute }) {
      const taskQueue = providerQueue(core.config.temporal.taskQueue, issuerRateLimitKey(provider));
      const { amount_minor: amountMinor, currency, card_id: card } = dispute;
      const summary = `dispute of ${currency} ${formatMajor(amountMinor)} with ${card}`;
      const input: DisputeWatchInput = { tenantId, id, taskQueue };
      return { input, tenantId, provider, reference, amountMinor, summary };
    },
  });

/** The capability `card-disputes`: disputes of card payments, which the issuer pursues against the merchant. */
export const cardDisputeCapability = defineCapability({
  name: 'card-disputes',
  servedBy: 'cards',
  mutations: forwardable({ acceptCardDispute, cancelCardDispute, applyCardDisputeFacts }),
  needs: { cards: cardCapability, cardAuthorizations: cardAuthorizationCapability },
  collections: [cardDisputes],
  erased: [
    erasedRecords({
      collection: cardDisputes,
      label: 'open disputes of card payments',
      by: { field: 'card_id', of: cards },
      isOpen: ({ status }) => status === 'pending' || status === 'open',
      erased: () => ({ explanation: null }),
    }),
  ],
  operations: cardDisputeOperations,
  events: cardDisputeEvents,
  audit: auditCardDisputes,
  create: createCardDisputeParts,
  routes: cardDisputeRoutes,
  providerEvents: cardDisputeEventHandler,
  supervised: ({ cardDisputes: { store, watch } }: { cardDisputes: CardDisputeParts }) => ({
    card_disputes: supervised(store, watch),
  }),
});
