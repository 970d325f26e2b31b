import {
  ERASED_EMAIL,
  erasedRecords,
  isInstructionOpen,
} from '../../core/erasure/erased-records.js';
import { formatMajor } from '../../shared/money.js';
import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import {
  createInstructionStarter,
  starterSettings,
} from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import { paymentRateLimitKey } from '../../platform/temporal/queues.js';
import { paymentTokenCapability, type PaymentTokenParts } from '../payment-tokens/index.js';
import { chargeOperations } from './api.js';
import { auditCharges } from './audit.js';
import { reconciledCharges } from './comparison.js';
import { charges, chargeWorkflowId, type Charge } from './record.js';
import { createChargeCreation } from './create.js';
import { createChargeCalls } from './provider-calls.js';
import { presentChargeDetails, presentChargeRow } from './presenter.js';
import { chargeEventHandler } from './provider-events.js';
import { chargeRoutes } from './routes.js';
import { createCharges } from './store.js';
import { chargeContract } from './workflow-contract.js';
import { chargeEvents } from './webhook-events.js';
import { acceptCharge, applyChargeFact } from './mutations.js';

export type { Charges } from './store.js';

/** The parts of charges. */
export type ChargeParts = ReturnType<typeof createChargeParts>;

function createChargeParts(
  core: CoreDeps,
  { paymentTokens }: { paymentTokens: Pick<PaymentTokenParts, 'store'> },
) {
  const { config, database, groupCommit, providers, completionWaiters } = core;
  const { dunningDays, chargeExpiresMs: expiresAfterMs, maxOpenOfPublicKeys } = config.payments;
  const store = createCharges(database, groupCommit, config.instructions.stallTimeoutMs);
  const starter = createChargeStarter(core);
  return {
    store,
    starter,
    providerCalls: createChargeCalls({
      charges: store,
      tokens: paymentTokens.store,
      providers,
      expiresAfterMs,
    }),
    waiter: completionWaiters.create({ findEnded: (owned) => store.endedOrActionable(owned) }),
    create: createChargeCreation({
      groupCommit,
      charges: store,
      maxOpenOfPublicKeys,
      tokens: paymentTokens.store,
      chargeStarter: starter,
      provider: async (tenantId, tokenId) => {
        const token = tokenId === null ? null : await paymentTokens.store.get(tenantId, tokenId);
        return token?.provider ?? providers.forPayments().name;
      },
      dunningDays,
      expiresAfterMs,
    }),
    idle: starter.idle,
  };
}

const createChargeStarter = (core: CoreDeps) =>
  createInstructionStarter<Charge>(starterSettings(core), {
    workflow: chargeContract.type,
    workflowId: ({ _id }) => chargeWorkflowId(_id),
    rateLimitKey: paymentRateLimitKey,
    // A retry that waits for its day is not late.
    acceptedAt: (charge) => charge.next_attempt_at ?? charge.created_at,
    summary: ({ currency, amount_minor: amountMinor, provider }) =>
      `${currency} ${formatMajor(amountMinor)} via ${provider}`,
  });

/** The capability `charges`: payments of customers, by a page of the provider or by a payment token. */
export const chargeCapability = defineCapability({
  name: 'charges',
  servedBy: 'payments',
  mutations: forwardable({ acceptCharge, applyChargeFact }),
  needs: { paymentTokens: paymentTokenCapability },
  collections: [charges],
  erased: [
    erasedRecords({
      collection: charges,
      label: 'open charges',
      by: { field: 'customer.id' },
      isOpen: isInstructionOpen,
      erased: () => ({
        'customer.email': ERASED_EMAIL,
        'customer.name': null,
        description: null,
        metadata: null,
        next_action: null,
        return_url: null,
      }),
    }),
  ],
  operations: chargeOperations,
  events: chargeEvents,
  audit: auditCharges,
  create: createChargeParts,
  routes: chargeRoutes,
  providerEvents: chargeEventHandler,
  supervised: (deps: { charges: ChargeParts }) => ({
    charges: supervised(deps.charges.store, deps.charges.starter),
  }),
  reconciled: reconciledCharges,
  instruction: {
    labels: chargeContract.labels,
    records: (deps: { charges: ChargeParts }) => deps.charges,
    presentRow: presentChargeRow,
    presentDetails: presentChargeDetails,
  },
});
