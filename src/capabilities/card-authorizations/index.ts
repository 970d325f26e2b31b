import { LRUCache } from 'lru-cache';
import { formatMajor } from '../../shared/money.js';
import { issuerRateLimitKey, providerQueue } from '../../platform/temporal/queues.js';
import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import {
  createWorkflowStarter,
  type WorkflowStarter,
} from '../../core/supervision/workflow-starter.js';
import { cardCapability, type CardParts } from '../cards/index.js';
import { cardAuthorizationOperations } from './api.js';
import { auditAuthorizations } from './audit.js';
import { reconciledAuthorizations } from './comparison.js';
import { authorizationId, cardAuthorizations, type CardAuthorization } from './record.js';
import { createDecisions } from './create.js';
import { authorizationEventHandler } from './provider-events.js';
import { cardAuthorizationRoutes } from './routes.js';
import { cardAuthorizationEvents } from './webhook-events.js';
import {
  createAuthorizationStore,
  type AuthorizationNotice,
  type FoundAuthorization,
  type AskedAuthorization,
} from './store.js';
import { authorizationWorkflowId, type AuthorizationRef } from './workflow-contract.js';
import { applyCardAuthorizationFact, decideCardAuthorization } from './mutations.js';

/** The parts of card authorizations: real-time decisions, and the workflow that ends holds. */
export type CardAuthorizationParts = ReturnType<typeof createCardAuthorizationParts>;

function createCardAuthorizationParts(
  core: CoreDeps,
  { cards }: { cards: Pick<CardParts, 'store'> },
) {
  const { config, database, groupCommit, log, providers } = core;
  const { authorizationTerms: terms } = config.cards;
  const { stallTimeoutMs } = config.instructions;
  const store = createAuthorizationStore(database, groupCommit, { stallTimeoutMs, terms });
  const starter = createAuthorizationStarter(core);
  const decisions = createDecisions({
    store,
    cards: cards.store,
    cardsDisabled: createFeatureSwitch(core.tenants),
    deadlineMsOf: (provider) => providers.issuer(provider).cards.decision.deadlineMs,
    terms,
    log,
  });
  return {
    store,
    starter,
    decisions,

    /** Applies an issuer's event about a payment, also of one that was never requested. Repeats change nothing. */
    async applyAuthorizationState(notice: AuthorizationNotice) {
      const outcome = await store.applyState(notice);
      starter.notifyChangedSoon({ _id: authorizationId(notice.provider, notice.token) });
      return outcome;
    },

    /** Applies what the issuer has reported about a payment. Repeats change nothing. */
    async applyReports(found: AskedAuthorization, answer: FoundAuthorization): Promise<void> {
      await store.applyReports(found, answer);
      starter.notifyChangedSoon(found);
    },

    /** Waits for the pending decisions, which start workflows, and then for those starts. */
    async idle(): Promise<void> {
      await decisions.idle();
      await starter.idle();
    },
  };
}

/** A tenant's switch is read again after this time, so that a change is in force within a second. */
const SWITCH_MAX_AGE_MS = 500;

/** Tells whether cards are switched off for a tenant, or the tenant is frozen. */
function createFeatureSwitch(tenants: CoreDeps['tenants']) {
  const switches = new LRUCache<string, { off: boolean }>({
    max: 10_000,
    ttl: SWITCH_MAX_AGE_MS,
    fetchMethod: async (id) => {
      const tenant = await tenants.get(id);
      return { off: tenant !== null && (!tenant.features.cards || tenant.frozenAt !== null) };
    },
  });
  return async (tenantId: string): Promise<boolean> =>
    (await switches.fetch(tenantId))?.off === true;
}

/** Creates the starter of the workflow that ends a hold. It takes no operator commands: only the issuer knows the outcome. */
function createAuthorizationStarter(
  core: CoreDeps,
): Omit<WorkflowStarter<CardAuthorization>, 'command'> {
  return createWorkflowStarter<CardAuthorization>({
    ...starterSettings(core),
    workflow: 'cardAuthorization',
    workflowId: ({ _id }) => authorizationWorkflowId(_id),
    toStart({
      _id: id,
      tenant_id: tenantId,
      card_id: card,
      provider,
      token,
      amount_minor: amountMinor,
      currency,
    }) {
      const taskQueue = providerQueue(core.config.temporal.taskQueue, issuerRateLimitKey(provider));
      const input: AuthorizationRef = { tenantId, id, taskQueue };
      const summary = `${currency} ${formatMajor(amountMinor)} with ${card}`;
      return { input, tenantId, provider, reference: token, amountMinor, summary };
    },
  });
}

/** The capability `card-authorizations`: real-time decisions on card payments, and the security settings of cards. */
export const cardAuthorizationCapability = defineCapability({
  name: 'card-authorizations',
  servedBy: 'cards',
  mutations: forwardable({ applyCardAuthorizationFact, decideCardAuthorization }),
  needs: { cards: cardCapability },
  collections: [cardAuthorizations],
  operations: cardAuthorizationOperations,
  events: cardAuthorizationEvents,
  audit: auditAuthorizations,
  reconciled: reconciledAuthorizations,
  create: createCardAuthorizationParts,
  routes: cardAuthorizationRoutes,
  providerEvents: authorizationEventHandler,
  supervised: ({
    cardAuthorizations: { store, starter },
  }: {
    cardAuthorizations: CardAuthorizationParts;
  }) => ({
    card_authorizations: supervised(store, starter),
  }),
});
