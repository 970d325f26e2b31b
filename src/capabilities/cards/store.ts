import type { Collection } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { textEquals } from '../../platform/database/indexes.js';
import {
  BY_ID,
  acrossTenants,
  onlyOne,
  ownedFilter,
  type Owned,
} from '../../platform/database/tenant-filters.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import type { Card } from './record.js';
import { FUNDING_TYPES, type CardOperation } from './card-operation.js';

/** A page of a list: its size, and the number of records before it. */
export type OffsetListing = { limit: number; offset: number };

const NEWEST_FIRST = { created_at: -1, _id: -1 } as const;

/** The store of cards. */
export type Cards = ReturnType<typeof createCardStore>;

/** Queries of cards. Cards are changed only by commits, through `changeCard`. */
export function createCardStore({ db }: Database) {
  const collection = db.collection<Card>('cards');
  return {
    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** Finds a card of any tenant. For operators, and for messages of issuers, which name no tenant. */
    find: (id: string) => collection.findOne({ _id: id }, acrossTenants('look_up')),

    /** Finds a card by its id at the issuer. Null if the issuer has given one id to two cards. */
    findIssued: (provider: string, card: string) =>
      onlyOne(
        collection.find(
          { provider, 'issued.issuer_card_id': textEquals(card) },
          acrossTenants('look_up'),
        ),
      ),

    /** A tenant's cards, newest first. Counting all of them is cheap: tenants have few cards. */
    async list(tenantId: string, { limit, offset }: OffsetListing) {
      const [items, total] = await Promise.all([
        collection
          .find({ tenant_id: tenantId })
          .sort(NEWEST_FIRST)
          .skip(offset)
          .limit(limit)
          .toArray(),
        collection.countDocuments({ tenant_id: tenantId }),
      ]);
      return { items, total };
    },

    /** Those of these cards that are no longer pending. */
    issued: (owned: Owned[]): Promise<Card[]> =>
      collection.find({ ...ownedFilter(owned), status: { $ne: 'pending' } }, BY_ID).toArray(),

    /** For operators: the newest cards of one tenant or of all tenants. */
    latest: ({ tenantId, limit }: { tenantId?: string; limit: number }): Promise<Card[]> =>
      collection
        .find(tenantId === undefined ? {} : { tenant_id: tenantId }, acrossTenants('report'))
        .sort(tenantId === undefined ? { _id: -1 } : NEWEST_FIRST)
        .limit(limit)
        .toArray(),
  };
}

/** The store of operations on cards. */
export type CardOperations = ReturnType<typeof createCardOperationStore>;

/** Queries of operations, and the writes of attempts. Commits alone end an operation or move money. */
export function createCardOperationStore({ db }: Database, stallTimeoutMs: number) {
  const collection = db.collection<CardOperation>('card_operations');
  return {
    ...createInstructionStore<CardOperation>({
      collection: db.collection<InstructionRecord>('card_operations'),
      stallTimeoutMs,
    }),
    ...operationQueries(collection),
  };
}

type CardKey = Pick<Card, '_id' | 'tenant_id'>;

function operationQueries(collection: Collection<CardOperation>) {
  return {
    /** The operation that issues a card. */
    issueOf: ({ _id, tenant_id: tenantId }: CardKey) =>
      collection.findOne({ tenant_id: tenantId, reference: _id }),

    /** A card's fundings, newest first. The index `fundings` counts them without other operations. */
    async fundings({ tenant_id: tenantId, _id: card }: CardKey, { limit, offset }: OffsetListing) {
      const filter = { tenant_id: tenantId, card_id: card, type: { $in: [...FUNDING_TYPES] } };
      const [items, total] = await Promise.all([
        collection
          .find(filter, { projection: { timeline: 0 }, hint: 'fundings' })
          .sort(NEWEST_FIRST)
          .skip(offset)
          .limit(limit)
          .toArray(),
        collection.countDocuments(filter, { hint: 'fundings' }),
      ]);
      return { items, total };
    },

    /** The newest completed unloading of a card that needs an operator for one of these reasons. */
    unloadInDoubt: ({ tenant_id: tenantId, _id: card }: CardKey, reasons: readonly string[]) =>
      collection.findOne(
        {
          tenant_id: tenantId,
          card_id: card,
          type: 'unload',
          status: 'completed',
          'attention.reason': { $in: [...reasons] },
        },
        { sort: NEWEST_FIRST, hint: 'fundings' },
      ),

    /** For operators: the newest operations on a card, of all types. */
    ofCard: ({ tenant_id: tenantId, _id: card }: CardKey, limit: number) =>
      collection
        .find({ tenant_id: tenantId, card_id: card }, { projection: { timeline: 0 } })
        .sort(NEWEST_FIRST)
        .limit(limit)
        .toArray(),
  };
}
