import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import {
  createInstructionStarter,
  starterSettings,
} from '../../core/instructions/instruction-starter.js';
import { ENDED } from '../../core/instructions/listing.js';
import { archivedRecords } from '../../core/ledger/archive.js';
import { supervised } from '../../core/supervision/supervision.js';
import { billRateLimitKey } from '../../platform/temporal/queues.js';
import { formatMajor } from '../../shared/money.js';
import { bankCapability, type BankParts } from '../banks/index.js';
import { billerCapability, type BillerParts } from '../billers/index.js';
import { billPaymentOperations } from './api.js';
import { auditBillPayments } from './audit.js';
import { reconciledBillPayments } from './comparison.js';
import { billPayments, billPaymentWorkflowId, type BillPayment } from './record.js';
import { createBillPaymentCreation } from './create.js';
import { acceptBillPayment, applyBillPaymentFact } from './mutations.js';
import { presentBillPaymentDetails, presentBillPaymentRow } from './presenter.js';
import { createBillPaymentCalls, createReceipts } from './provider-calls.js';
import { billPaymentEventHandler } from './provider-events.js';
import { billPaymentRoutes } from './routes.js';
import { createBillPayments } from './store.js';
import { billPaymentEvents } from './webhook-events.js';
import { billPaymentContract } from './workflow-contract.js';

/** The parts of bill payments. */
type BillPaymentParts = ReturnType<typeof createBillPaymentParts>;

function createBillPaymentParts(
  core: CoreDeps,
  { banks, billers }: { banks: BankParts; billers: BillerParts },
) {
  const { config, database, groupCommit, providers, completionWaiters } = core;
  const store = createBillPayments(database, groupCommit, config.instructions.stallTimeoutMs);
  const starter = createInstructionStarter<BillPayment>(starterSettings(core), {
    workflow: billPaymentContract.type,
    workflowId: ({ _id }) => billPaymentWorkflowId(_id),
    rateLimitKey: billRateLimitKey,
    summary: ({ currency, amount_minor: amountMinor, biller_id: biller, provider }) =>
      `bill of ${biller}, ${currency} ${formatMajor(amountMinor)} via ${provider}`,
  });
  const receipts = createReceipts(core.sealing);
  return {
    store,
    starter,
    receipts,
    providerCalls: createBillPaymentCalls({ payments: store, providers, receipts }),
    waiter: completionWaiters.create({ findEnded: (owned) => store.findEnded(owned) }),
    create: createBillPaymentCreation({
      groupCommit,
      starter,
      ...billers,
      enquiryLimit: banks.enquiryLimit,
      provider: () => providers.forBills().name,
    }),
    idle: starter.idle,
  };
}

/** The capability `bill-payments`. */
export const billPaymentCapability = defineCapability({
  name: 'bill-payments',
  servedBy: 'billpay',
  mutations: forwardable({ acceptBillPayment, applyBillPaymentFact }),
  needs: { banks: bankCapability, billers: billerCapability },
  collections: [billPayments],
  operations: billPaymentOperations,
  events: billPaymentEvents,
  audit: auditBillPayments,
  archived: [
    archivedRecords({
      collection: billPayments,
      ended: { status: { $in: ENDED }, in_suspense: false, next_check_at: null, attention: null },
    }),
  ],
  create: createBillPaymentParts,
  routes: billPaymentRoutes,
  providerEvents: billPaymentEventHandler,
  supervised: (deps: { billPayments: BillPaymentParts }) => ({
    bill_payments: supervised(deps.billPayments.store, deps.billPayments.starter),
  }),
  reconciled: reconciledBillPayments,
  instruction: {
    labels: billPaymentContract.labels,
    records: (deps: { billPayments: BillPaymentParts }) => deps.billPayments,
    presentRow: presentBillPaymentRow,
    presentDetails: presentBillPaymentDetails,
  },
});
