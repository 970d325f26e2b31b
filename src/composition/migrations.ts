import {
  collectionsMigration,
  ensureCollections,
  type Migration,
} from '../platform/database/migrations.js';
import {
  cardEventReplaysCollection,
  cardEventsCollection,
} from '../core/provider-events/collections.js';
import {
  cardAuthorizationsCollection,
  cardOperationsCollection,
  cardsCollection,
} from '../capabilities/cards/collections.js';
import {
  chargesCollection,
  paymentTokensCollection,
  recurringChargesCollection,
  refundsCollection,
} from '../capabilities/charges/payment-collections.js';
import { apiKeysCollection } from '../platform/api-keys/document.js';
import {
  idempotencyKeysCollection,
  postingsCollection,
  walletsCollection,
} from '../core/ledger/collections.js';
import { rateLimitsCollection } from '../platform/rate-limits/store.js';
import { tenantsCollection } from '../platform/tenants/store.js';
import { transferBatchesCollection } from '../capabilities/bulk-transfers/store.js';
import { rebuildCounts, transferCountsCollection } from '../capabilities/transfers/counts.js';
import { transfersCollection } from '../capabilities/transfers/store.js';
import { callbacksCollection } from '../core/provider-events/callbacks.js';
import { deliveriesCollection, eventsCollection } from '../core/webhooks/deliveries.js';
import { endpointsCollection } from '../core/webhooks/endpoints.js';

/** Every step of the schema, oldest first. A step that was released is never edited: add a new one. */
export const migrations: readonly Migration[] = [
  collectionsMigration('0001-tenants-keys-limits', [
    tenantsCollection,
    apiKeysCollection,
    rateLimitsCollection,
  ]),
  collectionsMigration('0002-ledger-transfers-callbacks', [
    walletsCollection,
    postingsCollection,
    idempotencyKeysCollection,
    transfersCollection,
    callbacksCollection,
  ]),
  collectionsMigration('0003-webhooks-out', [
    endpointsCollection,
    eventsCollection,
    deliveriesCollection,
  ]),
  {
    id: '0004-transfer-lists',
    async up(db) {
      await ensureCollections(db, [transfersCollection, transferCountsCollection]);
      await rebuildCounts(db);
    },
    collections: [transfersCollection, transferCountsCollection],
  },
  collectionsMigration('0005-transfer-batches', [transferBatchesCollection]),
  collectionsMigration('0006-safeguards-key-rotation', [tenantsCollection, apiKeysCollection]),
  collectionsMigration('0007-cards', [
    cardsCollection,
    cardOperationsCollection,
    cardAuthorizationsCollection,
    cardEventsCollection,
    cardEventReplaysCollection,
  ]),
  collectionsMigration('0008-payments', [
    paymentTokensCollection,
    chargesCollection,
    refundsCollection,
    recurringChargesCollection,
  ]),
  collectionsMigration('0009-authorizations-attention', [cardAuthorizationsCollection]),
];
