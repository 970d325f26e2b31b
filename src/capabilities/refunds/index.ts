import { erasedRecords, isInstructionOpen } from '../../core/erasure/erased-records.js';
import { formatMajor } from '../../shared/money.js';
import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import {
  createInstructionStarter,
  starterSettings,
} from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import { paymentRateLimitKey } from '../../platform/temporal/queues.js';
import { charges } from '../charges/record.js';
import { chargeCapability, type ChargeParts } from '../charges/index.js';
import { refundOperations } from './api.js';
import { auditRefunds } from './audit.js';
import { reconciledRefunds } from './comparison.js';
import { createRefundCreation } from './create.js';
import { createRefundCalls } from './provider-calls.js';
import { refunds, refundWorkflowId, type Refund } from './record.js';
import { presentRefundDetails, presentRefundRow } from './presenter.js';
import { refundEventHandler } from './provider-events.js';
import { refundRoutes } from './routes.js';
import { createRefunds } from './store.js';
import { refundContract } from './workflow-contract.js';
import { refundEvents } from './webhook-events.js';
import {
  forgetUnnamedRefusal,
  noteUnnamedRefusal,
  recordDeskRefund,
  refuseDeskRefund,
} from './desk-refunds.js';
import { acceptRefund, applyRefundFact } from './mutations.js';
import { orderReturn } from './returns.js';

export type { Refunds } from './store.js';

/** The parts of refunds. */
export type RefundParts = ReturnType<typeof createRefundParts>;

function createRefundParts(core: CoreDeps, { charges }: { charges: Pick<ChargeParts, 'store'> }) {
  const { config, database, groupCommit, providers, completionWaiters } = core;
  const store = createRefunds(database, groupCommit, config.instructions.stallTimeoutMs);
  const starter = createRefundStarter(core);
  return {
    store,
    starter,
    providerCalls: createRefundCalls({ refunds: store, providers, log: core.log }),
    waiter: completionWaiters.create({ findEnded: (owned) => store.findEnded(owned) }),
    create: createRefundCreation({
      charges: charges.store,
      providers,
      groupCommit,
      refundStarter: starter,
    }),
    idle: starter.idle,
  };
}

const createRefundStarter = (core: CoreDeps) =>
  createInstructionStarter<Refund>(starterSettings(core), {
    workflow: refundContract.type,
    workflowId: ({ _id }) => refundWorkflowId(_id),
    rateLimitKey: paymentRateLimitKey,
    acceptedAt: (refund) => refund.next_attempt_at ?? refund.created_at,
    summary: ({ currency, amount_minor: amountMinor, provider }) =>
      `refund of ${currency} ${formatMajor(amountMinor)} via ${provider}`,
  });

/** The capability `refunds`. */
export const refundCapability = defineCapability({
  name: 'refunds',
  servedBy: 'payments',
  mutations: forwardable({
    acceptRefund,
    applyRefundFact,
    recordDeskRefund,
    refuseDeskRefund,
    noteUnnamedRefusal,
    forgetUnnamedRefusal,
    orderReturn,
  }),
  needs: { charges: chargeCapability },
  collections: [refunds],
  erased: [
    erasedRecords({
      collection: refunds,
      label: 'open refunds',
      by: { field: 'charge_id', of: charges },
      isOpen: isInstructionOpen,
      erased: ({ customer_account: account }) => ({
        reason: null,
        ...(account && { customer_account: null }),
      }),
    }),
  ],
  operations: refundOperations,
  events: refundEvents,
  audit: auditRefunds,
  create: createRefundParts,
  routes: refundRoutes,
  providerEvents: refundEventHandler,
  supervised: (deps: { refunds: RefundParts }) => ({
    refunds: supervised(deps.refunds.store, deps.refunds.starter),
  }),
  reconciled: reconciledRefunds,
  instruction: {
    labels: refundContract.labels,
    records: (deps: { refunds: RefundParts }) => deps.refunds,
    presentRow: presentRefundRow,
    presentDetails: presentRefundDetails,
  },
});
