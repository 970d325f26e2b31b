import type { Collection } from 'mongodb';
import type { Database } from '../database/client.js';
import { pursuedRecords } from '../pursuits/store.js';
import type { PursuedRecord } from '../pursuits/record.js';
import type { Card } from './card.js';
import { FUNDING_TYPES, type CardOperation } from './operation.js';

export type OffsetListing = { limit: number; offset: number };

const NEWEST_FIRST = { created_at: -1, _id: -1 } as const;

export type Cards = ReturnType<typeof createCardStore>;

/** What is read of cards. They change only by commits, through `changeCard`. */
export function createCardStore({ db }: Database) {
  const collection = db.collection<Card>('cards');
  return {
    get: (tenant: string, id: string) => collection.findOne({ _id: id, tenant }),

    /** By our id alone: for operators, and for issuers' messages, which know no tenant. */
    find: (id: string) => collection.findOne({ _id: id }),

    /** By the issuer's id. */
    findIssued: (provider: string, card: string) =>
      collection.findOne({ provider, 'issued.card': card }),

    /** The total is counted by the index: one tenant's cards are few beside its transfers. */
    async list(tenant: string, { limit, offset }: OffsetListing) {
      const [items, total] = await Promise.all([
        collection.find({ tenant }).sort(NEWEST_FIRST).skip(offset).limit(limit).toArray(),
        collection.countDocuments({ tenant }),
      ]);
      return { items, total };
    },

    /** Those whose issuing has come to its end. */
    issued: (ids: string[]): Promise<Card[]> =>
      collection.find({ _id: { $in: ids }, status: { $ne: 'pending' } }).toArray(),

    /** For operators, over all tenants: the latest first. */
    latest: ({ tenant, limit }: { tenant?: string; limit: number }): Promise<Card[]> =>
      collection
        .find(tenant === undefined ? {} : { tenant })
        .sort(tenant === undefined ? { _id: -1 } : NEWEST_FIRST)
        .limit(limit)
        .toArray(),
  };
}

export type CardOperations = ReturnType<typeof createCardOperationStore>;

/** The store of what issuers are told. Ends and money only by commits; what an attempt has learned is written here. */
export function createCardOperationStore(
  { db }: Database,
  sweepSlackMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<CardOperation>('card_operations');
  return {
    ...pursuedRecords<CardOperation>({
      collection: db.collection<PursuedRecord>('card_operations'),
      clock,
      sweepSlackMs,
    }),
    ...operationQueries(collection),
  };
}

function operationQueries(collection: Collection<CardOperation>) {
  return {
    /** The one that issues this card. */
    issueOf: ({ _id, tenant }: Pick<Card, '_id' | 'tenant'>) =>
      collection.findOne({ tenant, reference: _id }),

    /** A card's fundings, newest first; counted by the index that has nothing else in it. */
    async fundings(card: string, { limit, offset }: OffsetListing) {
      const filter = { card, type: { $in: [...FUNDING_TYPES] } };
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
        .find({ card }, { projection: { timeline: 0 } })
        .sort(NEWEST_FIRST)
        .limit(limit)
        .toArray(),
  };
}
