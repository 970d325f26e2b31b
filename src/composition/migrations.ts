import {
  collectionsMigration,
  ensureCollections,
  type Migration,
} from '../platform/database/migrations.js';
import { cardEventsCollection } from '../core/provider-events/collections.js';
import { providerEventReplays } from '../core/provider-events/event.js';
import { cardAuthorizations } from '../capabilities/card-authorizations/card-authorization.js';
import { cardOperations } from '../capabilities/cards/card-operation.js';
import { cards } from '../capabilities/cards/card.js';
import { charges } from '../capabilities/charges/charge.js';
import { paymentTokens } from '../capabilities/payment-tokens/payment-token.js';
import { recurringCharges } from '../capabilities/recurring-charges/recurring-charge.js';
import { refunds } from '../capabilities/refunds/refund.js';
import { apiKeysCollection } from '../platform/api-keys/document.js';
import {
  idempotencyKeysCollection,
  postingsCollection,
  walletsCollection,
} from '../core/ledger/collections.js';
import { rateLimitsCollection } from '../platform/rate-limits/store.js';
import { tenantsCollection } from '../platform/tenants/store.js';
import { bulkTransfers } from '../capabilities/bulk-transfers/bulk-transfer.js';
import { rebuildCounts, transferMonthlyCounts } from '../capabilities/transfers/counts.js';
import { transfers } from '../capabilities/transfers/transfer.js';
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
    transfers,
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
      await ensureCollections(db, [transfers, transferMonthlyCounts]);
      await rebuildCounts(db);
    },
    collections: [transfers, transferMonthlyCounts],
  },
  collectionsMigration('0005-transfer-batches', [bulkTransfers]),
  collectionsMigration('0006-safeguards-key-rotation', [tenantsCollection, apiKeysCollection]),
  collectionsMigration('0007-cards', [
    cards,
    cardOperations,
    cardAuthorizations,
    cardEventsCollection,
    providerEventReplays,
  ]),
  collectionsMigration('0008-payments', [paymentTokens, charges, refunds, recurringCharges]),
  collectionsMigration('0009-authorizations-attention', [cardAuthorizations]),
];
