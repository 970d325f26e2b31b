import { capabilities } from './capabilities.js';
import { cardAuthorizations } from '../capabilities/card-authorizations/record.js';
import { cardDisputes } from '../capabilities/card-disputes/record.js';
import { cardOperations } from '../capabilities/cards/card-operation.js';
import { charges } from '../capabilities/charges/record.js';
import { customerCounts } from '../capabilities/customers/counts.js';
import { deposits } from '../capabilities/deposits/record.js';
import { paymentTokens } from '../capabilities/payment-tokens/record.js';
import { approvals } from '../core/approvals/approval.js';
import { operatorCommandsCollection } from '../core/approvals/operator-acts.js';
import { auditEndCollection, auditLogCollection } from '../core/audit/store.js';
import { commitProcessesCollection } from '../core/commit/processes.js';
import {
  closedDaysCollection,
  closingsCollection,
  idempotencyKeysCollection,
  postingsCollection,
  closingRunsCollection,
  verificationsCollection,
  walletsCollection,
} from '../core/ledger/collections.js';
import { providerFaultsCollection } from '../core/providers/faults.js';
import { providerHealthCollection } from '../core/providers/health.js';
import { deliveriesCollection, eventsCollection } from '../core/webhooks/deliveries.js';
import { breaksCollection } from '../core/reconciliation/break.js';
import { lastRunsCollection } from '../core/reconciliation/last-runs.js';
import { rowsCollection, runsCollection } from '../core/reconciliation/statement.js';
import { endpointsCollection } from '../core/webhooks/endpoints.js';
import { apiKeysCollection } from '../platform/api-keys/document.js';
import { leasesCollection } from '../platform/database/lease.js';
import { collectionsMigration, wantedOf, type Migration } from '../platform/database/migrations.js';
import { operatorKeysCollection, operatorsCollection } from '../platform/operators/document.js';
import { sealingKeysCollection } from '../platform/sealing/key-register.js';
import type { SealedCollection } from '../platform/sealing/sealed-fields.js';
import { rateLimitsCollection } from '../platform/rate-limits/store.js';
import { tenantsCollection } from '../platform/tenants/store.js';

/** Every step of the schema, oldest first. A step that was released is never edited: add a new one. */
export const migrations: readonly Migration[] = [
  collectionsMigration('0001-initial', [
    tenantsCollection,
    apiKeysCollection,
    rateLimitsCollection,
    walletsCollection,
    postingsCollection,
    closingsCollection,
    closedDaysCollection,
    closingRunsCollection,
    verificationsCollection,
    idempotencyKeysCollection,
    endpointsCollection,
    eventsCollection,
    deliveriesCollection,
    commitProcessesCollection,
    auditLogCollection,
    auditEndCollection,
    approvals,
    operatorCommandsCollection,
    operatorsCollection,
    operatorKeysCollection,
    providerFaultsCollection,
    providerHealthCollection,
    ...capabilities.flatMap(({ collections = [] }) => collections),
  ]),
  collectionsMigration('0002-sealed-fields', [paymentTokens, sealingKeysCollection]),
  collectionsMigration('0003-keys', [apiKeysCollection, operatorKeysCollection]),
  collectionsMigration('0004-reconciliation', [breaksCollection, runsCollection, rowsCollection]),
  collectionsMigration('0005-card-disputes', [cardDisputes, cardOperations, cardAuthorizations]),
  collectionsMigration('0006-deposits-by-account', [
    deposits,
    cardAuthorizations,
    breaksCollection,
  ]),
  collectionsMigration('0007-counts', [customerCounts]),
  collectionsMigration('0008-card-operations-by-time', [cardOperations]),
  collectionsMigration('0009-endpoint-filters', [endpointsCollection]),
  collectionsMigration('0010-operators-without-roles', [operatorsCollection]),
  collectionsMigration('0011-charges-of-public-keys', [charges]),
  collectionsMigration('0012-events-by-name', [eventsCollection]),
  collectionsMigration('0013-claimed-approvals', [approvals]),
  collectionsMigration('0014-reconciliation-runs', [lastRunsCollection]),
  collectionsMigration('0015-leases', [leasesCollection]),
];

/** The collections with sealed fields. */
export const sealedCollections: readonly SealedCollection[] = wantedOf(migrations).flatMap(
  ([{ name, sealed = [] }]) => (sealed.length > 0 ? [{ name, sealed }] : []),
);
