import { ERASED_EMAIL, erasedRecords } from '../../core/erasure/erased-records.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { starterSettings } from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import { createWorkflowStarter } from '../../core/supervision/workflow-starter.js';
import { paymentRateLimitKey, providerQueue } from '../../platform/temporal/queues.js';
import { tokenOperations } from './api.js';
import { createTokenCreation } from './create.js';
import {
  paymentTokens,
  revocationWorkflowId,
  setupWorkflowId,
  type PaymentToken,
} from './record.js';
import { setupEventHandler } from './provider-events.js';
import { createSetupCalls, createTokenCalls } from './provider-calls.js';
import { tokenRoutes } from './routes.js';
import { createTokens } from './store.js';
import { paymentTokenEvents } from './webhook-events.js';
import type { TokenRevocationInput, TokenSetupInput } from './workflow-contract.js';

export { ALWAYS, customerBody, customerOf, returnUrl } from './schema.js';
export { channelOf } from './provider-calls.js';
export type { Tokens } from './store.js';

/** The parts of payment tokens. */
export type PaymentTokenParts = ReturnType<typeof createPaymentTokenParts>;

function createPaymentTokenParts(core: CoreDeps) {
  const { config, database, groupCommit, providers, sealing, completionWaiters } = core;
  const store = createTokens(database, groupCommit, config.instructions, sealing);
  const revocations = createRevocationStarter(core);
  const setups = createSetupStarter(core);
  const provider = () => providers.forPayments().name;
  return {
    store,
    revocations,
    setups,
    /** Starts the workflow that a token waits for. */
    starter: {
      start: (token: PaymentToken): Promise<void> =>
        (token.revoking === null ? setups : revocations).start(token),
    },
    waiter: completionWaiters.create({ findEnded: (owned) => store.withOpenPage(owned) }),
    setupCalls: createSetupCalls({ tokens: store, providers }),
    providerCalls: createTokenCalls({ tokens: store, providers, log: core.log }),
    create: createTokenCreation({ tokens: store, provider }),
    idle: async () => {
      await revocations.idle();
      await setups.idle();
    },
  };
}

/** Starts the workflows that revoke deleted tokens at their providers. */
function createRevocationStarter(core: CoreDeps) {
  const settings = starterSettings(core);
  return createWorkflowStarter<PaymentToken>({
    ...settings,
    workflow: 'paymentTokenRevocation',
    workflowId: ({ _id }) => revocationWorkflowId(_id),
    toStart(token) {
      const input: TokenRevocationInput = inputOf(settings, token);
      return {
        ...startOf(token),
        input,
        summary: `revocation of ${token._id} at ${token.provider}`,
      };
    },
  });
}

/** Starts the workflows that open pages without a payment and ask for their outcome. */
function createSetupStarter(core: CoreDeps) {
  const settings = starterSettings(core);
  const { pollMaxMs } = settings.policy;
  return createWorkflowStarter<PaymentToken, Pick<PaymentToken, '_id'>>({
    ...settings,
    workflow: 'paymentTokenSetup',
    workflowId: ({ _id }) => setupWorkflowId(_id),
    toStart(token) {
      const input: TokenSetupInput = { ...inputOf(settings, token), pollMaxMs };
      const summary = `page to save a payment method for ${token._id} at ${token.provider}`;
      return { ...startOf(token), input, summary };
    },
  });
}

/** The input that both workflows have. */
const inputOf = (
  { taskQueue }: ReturnType<typeof starterSettings>,
  { _id: id, tenant_id: tenantId, provider }: PaymentToken,
) => ({ tenantId, id, taskQueue: providerQueue(taskQueue, paymentRateLimitKey(provider)) });

/** The fields by which an operator finds either workflow. */
const startOf = ({ _id: reference, tenant_id: tenantId, provider }: PaymentToken) => ({
  tenantId,
  provider,
  reference,
  amountMinor: null,
});

/** The capability `payment-tokens`: cards and bank accounts that customers have left for later charges. */
export const paymentTokenCapability = defineCapability({
  name: 'payment-tokens',
  servedBy: 'payments',
  collections: [paymentTokens],
  erased: [
    erasedRecords({
      collection: paymentTokens,
      label: 'payment tokens that are not deleted',
      by: { field: 'customer.id' },
      isOpen: ({ status, revoking, revoking_later: later = [], next_check_at: check }) =>
        status !== 'revoked' || revoking !== null || later.length > 0 || check !== null,
      erased: ({ setup }) => ({
        ...(setup && { 'setup.return_url': null }),
        'customer.email': ERASED_EMAIL,
        'customer.name': null,
        method_email: null,
        account_number: null,
        last4: null,
        metadata: null,
      }),
    }),
  ],
  operations: tokenOperations,
  events: paymentTokenEvents,
  create: createPaymentTokenParts,
  routes: tokenRoutes,
  providerEvents: setupEventHandler,
  supervised: (deps: { paymentTokens: PaymentTokenParts }) => ({
    payment_tokens: supervised(deps.paymentTokens.store, deps.paymentTokens.starter),
  }),
});
