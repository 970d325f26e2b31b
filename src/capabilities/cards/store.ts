import type { Collection } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { createInstructionStore } from '../../core/instructions/store.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import type { Card } from './card.js';
import { FUNDING_TYPES, type CardOperation } from './card-operation.js';

export type OffsetListing = { limit: number; offset: number };

const NEWEST_FIRST = { created_at: -1, _id: -1 } as const;

export type Cards = ReturnType<typeof createCardStore>;

/** What is read of cards. They change only by commits, through `changeCard`. */
export function createCardStore({ db }: Database) {
  const collection = db.collection<Card>('cards');
  return {
    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** By our id alone: for operators, and for issuers' messages, which know no tenant. */
    find: (id: string) => collection.findOne({ _id: id }),

    /** By the issuer's id. */
    findIssued: (provider: string, card: string) =>
      collection.findOne({ provider, 'issued.issuer_card_id': card }),

    /** The total is counted by the index: one tenant's cards are few beside its transfers. */
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

    /** Those whose issuing has come to its end. */
    issued: (ids: string[]): Promise<Card[]> =>
      collection.find({ _id: { $in: ids }, status: { $ne: 'pending' } }).toArray(),

    /** For operators, over all tenants: the latest first. */
    latest: ({ tenantId, limit }: { tenantId?: string; limit: number }): Promise<Card[]> =>
      collection
        .find(tenantId === undefined ? {} : { tenant_id: tenantId })
        .sort(tenantId === undefined ? { _id: -1 } : NEWEST_FIRST)
        .limit(limit)
        .toArray(),
  };
}

export type CardOperations = ReturnType<typeof createCardOperationStore>;

/** The store of what issuers are told. Ends and money only by commits; what an attempt has learned is written here. */
export function createCardOperationStore(
  { db }: Database,
  stallTimeoutMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<CardOperation>('card_operations');
  return {
    ...createInstructionStore<CardOperation>({
      collection: db.collection<InstructionRecord>('card_operations'),
      clock,
      stallTimeoutMs,
    }),
    ...operationQueries(collection),
  };
}

function operationQueries(collection: Collection<CardOperation>) {
  return {
    /** The one that issues this card. */
    issueOf: ({ _id, tenant_id: tenantId }: Pick<Card, '_id' | 'tenant_id'>) =>
      collection.findOne({ tenant_id: tenantId, reference: _id }),

    /** A card's fundings, newest first; counted by the index that has nothing else in it. */
    async fundings(card: string, { limit, offset }: OffsetListing) {
      const filter = { card_id: card, type: { $in: [...FUNDING_TYPES] } };
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

    /** For operators: all that its issuer was told of a card, the latest first. */
    ofCard: (card: string, limit: number) =>
      collection
        .find({ card_id: card }, { projection: { timeline: 0 } })
        .sort(NEWEST_FIRST)
        .limit(limit)
        .toArray(),
  };
}
