import { createCardControlActivities } from './card-control.js';
import { createCardFundingActivities } from './card-funding.js';
import {
  createCardAuthorizationActivities,
  type CardAuthorizationActivityDeps,
} from './card-authorizations.js';
import { createCardEventActivities, type CardEventActivityDeps } from './card-events.js';
import { createCardIssuingActivities } from './card-issuing.js';
import { createCardOperationActivities, type CardActivityDeps } from './card-operations.js';
import { createChargeActivities, type ChargeActivityDeps } from './charges.js';
import { withoutDetails } from './errors.js';
import { createRefundActivities, type RefundActivityDeps } from './refunds.js';
import {
  createTransferBatchActivities,
  type TransferBatchActivityDeps,
} from './transfer-batches.js';
import { createRenewalActivities, type RenewalActivityDeps } from './renewals.js';
import { createTransferWaveActivities, type TransferWaveActivityDeps } from './transfer-waves.js';
import { createTransferActivities, type TransferActivityDeps } from './transfers.js';
import { createWebhookActivities, type WebhookActivityDeps } from './webhooks.js';

export type ActivityDeps = TransferActivityDeps &
  TransferBatchActivityDeps &
  TransferWaveActivityDeps &
  WebhookActivityDeps &
  CardActivityDeps &
  CardAuthorizationActivityDeps &
  CardEventActivityDeps &
  ChargeActivityDeps &
  RefundActivityDeps &
  RenewalActivityDeps;

/** All activities of the worker. Their names are in histories: they never change (test/contract/names.test.ts). */
export function createActivities(deps: ActivityDeps) {
  return withoutDetails({
    ...createTransferActivities(deps),
    ...createTransferBatchActivities(deps),
    ...createTransferWaveActivities(deps),
    ...createWebhookActivities(deps),
    ...createCardEventActivities(deps),
    ...createCardOperationActivities(deps),
    ...createCardIssuingActivities(deps),
    ...createCardControlActivities(deps),
    ...createChargeActivities(deps),
    ...createRefundActivities(deps),
    ...createRenewalActivities(deps),
    ...createCardFundingActivities(deps),
    ...createCardAuthorizationActivities(deps),
  });
}

export type Activities = ReturnType<typeof createActivities>;
