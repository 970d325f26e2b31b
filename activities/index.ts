import { createAuditActivities, type AuditActivityDeps } from './audit.js';
import { createBillPaymentActivities, type BillPaymentActivityDeps } from './bill-payments.js';
import { createCardStateActivities } from './card-states.js';
import { createCardFundingActivities } from './card-fundings.js';
import {
  createCardAuthorizationActivities,
  type CardAuthorizationActivityDeps,
} from './card-authorizations.js';
import {
  createProviderEventActivities,
  type ProviderEventActivityDeps,
} from './provider-events.js';
import { createCardIssuanceActivities, type CardActivityDeps } from './cards.js';
import { createCardUnloadActivities } from './card-unloads.js';
import { createCardDisputeActivities, type CardDisputeActivityDeps } from './card-disputes.js';
import { createChargeActivities, type ChargeActivityDeps } from './charges.js';
import { withoutDetails } from './errors.js';
import {
  createIdentityCheckActivities,
  type IdentityCheckActivityDeps,
} from './identity-checks.js';
import { createInstructionActivities, type InstructionActivityDeps } from './instructions.js';
import { createLedgerActivities, type LedgerActivityDeps } from './ledger.js';
import { createPaymentTokenActivities, type PaymentTokenActivityDeps } from './payment-tokens.js';
import {
  createReconciliationActivities,
  type ReconciliationActivityDeps,
} from './reconciliation.js';
import { createRefundActivities, type RefundActivityDeps } from './refunds.js';
import { createBulkTransferActivities, type BulkTransferActivityDeps } from './bulk-transfers.js';
import {
  createRecurringChargeActivities,
  type RecurringChargeActivityDeps,
} from './recurring-charges.js';
import { createStatementActivities, type StatementActivityDeps } from './statements.js';
import {
  createTransferMicroBatchActivities,
  type TransferMicroBatchActivityDeps,
} from './transfer-micro-batches.js';
import { createTransferActivities, type TransferActivityDeps } from './transfers.js';
import {
  createVirtualAccountActivities,
  type VirtualAccountActivityDeps,
} from './virtual-accounts.js';
import { createDepositActivities, type DepositActivityDeps } from './deposits.js';
import { createWebhookActivities, type WebhookActivityDeps } from './webhooks.js';

/** Parts that the activities need; the composition root has all of them. */
export type ActivityDeps = InstructionActivityDeps &
  TransferActivityDeps &
  BulkTransferActivityDeps &
  TransferMicroBatchActivityDeps &
  WebhookActivityDeps &
  CardActivityDeps &
  CardAuthorizationActivityDeps &
  CardDisputeActivityDeps &
  ProviderEventActivityDeps &
  ChargeActivityDeps &
  RefundActivityDeps &
  IdentityCheckActivityDeps &
  BillPaymentActivityDeps &
  PaymentTokenActivityDeps &
  RecurringChargeActivityDeps &
  VirtualAccountActivityDeps &
  DepositActivityDeps &
  ReconciliationActivityDeps &
  StatementActivityDeps &
  LedgerActivityDeps &
  AuditActivityDeps;

/** All activities of a worker. Histories keep their names, so test/contract/names.test.ts holds them. */
export function createActivities(deps: ActivityDeps) {
  return withoutDetails({
    ...createInstructionActivities(deps),
    ...createTransferActivities(deps),
    ...createBulkTransferActivities(deps),
    ...createTransferMicroBatchActivities(deps),
    ...createWebhookActivities(deps),
    ...createProviderEventActivities(deps),
    ...createCardIssuanceActivities(deps),
    ...createCardStateActivities(deps),
    ...createChargeActivities(deps),
    ...createRefundActivities(deps),
    ...createReconciliationActivities(deps),
    ...createStatementActivities(deps),
    ...createIdentityCheckActivities(deps),
    ...createBillPaymentActivities(deps),
    ...createPaymentTokenActivities(deps),
    ...createRecurringChargeActivities(deps),
    ...createCardFundingActivities(deps),
    ...createCardUnloadActivities(deps),
    ...createCardDisputeActivities(deps),
    ...createCardAuthorizationActivities(deps),
    ...createVirtualAccountActivities(deps),
    ...createDepositActivities(deps),
    ...createLedgerActivities(deps),
    ...createAuditActivities(deps),
  });
}

/** The activities as workflows call them. */
export type Activities = ReturnType<typeof createActivities>;
