import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import { createWorkflowStarter } from '../../core/supervision/workflow-starter.js';
import { paymentRateLimitKey, providerQueue } from '../../platform/temporal/queues.js';
import { tokenOperations } from './api.js';
import { createTokenCreation } from './create.js';
import { paymentTokens, revocationWorkflowId, type PaymentToken } from './payment-token.js';
import { createTokenCalls } from './provider-calls.js';
import { tokenRoutes } from './routes.js';
import { createTokens } from './store.js';
import type { TokenRevocationInput } from './workflow-contract.js';

export { ALWAYS, customerBody, customerOf } from './schema.js';
export type { Tokens } from './store.js';

/** The parts of payment tokens. */
export type PaymentTokenParts = ReturnType<typeof createPaymentTokenParts>;

function createPaymentTokenParts(core: CoreDeps) {
  const { config, database, groupCommit, providers } = core;
  const store = createTokens(database, groupCommit, config.instructions);
  const starter = createRevocationStarter(core);
  const provider = () => providers.forPayments().name;
  return {
    store,
    starter,
    providerCalls: createTokenCalls({ tokens: store, providers }),
    create: createTokenCreation({ tokens: store, provider }),
    idle: starter.idle,
  };
}

/** Starts the workflows that revoke deleted tokens at their providers. */
function createRevocationStarter(core: CoreDeps) {
  const settings = starterSettings(core);
  return createWorkflowStarter<PaymentToken>({
    ...settings,
    workflow: 'paymentTokenRevocation',
    workflowId: ({ _id }) => revocationWorkflowId(_id),
    toStart({ _id: id, tenant_id: tenantId, provider }) {
      const taskQueue = providerQueue(settings.taskQueue, paymentRateLimitKey(provider));
      const input: TokenRevocationInput = { tenantId, id, taskQueue };
      const summary = `revocation of ${id} at ${provider}`;
      return { input, tenantId, provider, reference: id, amountMinor: null, summary };
    },
  });
}

/** The capability `payment-tokens`: cards and bank accounts that customers have left for later charges. */
export const paymentTokenCapability = defineCapability({
  name: 'payment-tokens',
  servedBy: 'payments',
  collections: [paymentTokens],
  operations: tokenOperations,
  create: createPaymentTokenParts,
  routes: tokenRoutes,
  listsAttention: false,
  supervised: (deps: { paymentTokens: PaymentTokenParts }) => ({
    payment_tokens: supervised(deps.paymentTokens.store, deps.paymentTokens.starter),
  }),
});
