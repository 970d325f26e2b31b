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
import { createCardIssuanceActivities } from './cards.js';
import { createCardOperationActivities, type CardActivityDeps } from './card-operations.js';
import { createChargeActivities, type ChargeActivityDeps } from './charges.js';
import { withoutDetails } from './errors.js';
import { createRefundActivities, type RefundActivityDeps } from './refunds.js';
import { createBulkTransferActivities, type BulkTransferActivityDeps } from './bulk-transfers.js';
import {
  createRecurringChargeActivities,
  type RecurringChargeActivityDeps,
} from './recurring-charges.js';
import {
  createTransferMicroBatchActivities,
  type TransferMicroBatchActivityDeps,
} from './transfer-micro-batches.js';
import { createTransferActivities, type TransferActivityDeps } from './transfers.js';
import { createWebhookActivities, type WebhookActivityDeps } from './webhooks.js';

export type ActivityDeps = TransferActivityDeps &
  BulkTransferActivityDeps &
  TransferMicroBatchActivityDeps &
  WebhookActivityDeps &
  CardActivityDeps &
  CardAuthorizationActivityDeps &
  ProviderEventActivityDeps &
  ChargeActivityDeps &
  RefundActivityDeps &
  RecurringChargeActivityDeps;

/** All activities of the worker. Their names are in histories: they never change (test/contract/names.test.ts). */
export function createActivities(deps: ActivityDeps) {
  return withoutDetails({
    ...createTransferActivities(deps),
    ...createBulkTransferActivities(deps),
    ...createTransferMicroBatchActivities(deps),
    ...createWebhookActivities(deps),
    ...createProviderEventActivities(deps),
    ...createCardOperationActivities(deps),
    ...createCardIssuanceActivities(deps),
    ...createCardStateActivities(deps),
    ...createChargeActivities(deps),
    ...createRefundActivities(deps),
    ...createRecurringChargeActivities(deps),
    ...createCardFundingActivities(deps),
    ...createCardAuthorizationActivities(deps),
  });
}

export type Activities = ReturnType<typeof createActivities>;
