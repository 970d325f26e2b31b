import type { Collection } from 'mongodb';
import type { Database } from '../../database/client.js';
import { overdue } from '../../database/overdue.js';
import type { GroupCommit } from '../../ledger/group-commit.js';
import type { AuthorizationState } from '../../providers/card-issuer.js';
import { timelineEntry } from '../../pursuits/timeline.js';
import type { OffsetListing } from '../store.js';
import {
  authorizationId,
  type AuthorizationFact,
  type CardAuthorization,
} from './authorization.js';
import type { AuthorizationFactItem, DecideItem } from './item.js';
import type { AuthorizationRef, HoldReport } from './reports.js';

export type AuthorizationStore = ReturnType<typeof createAuthorizationStore>;

/** What an issuer said became of a payment, and whose card it was. */
export type AuthorizationTold = {
  tenant: string;
  card: string;
  provider: string;
  token: string;
  /** Equal for repeats. */
  key: string;
  state: AuthorizationState;
  /** When it happened, as far as the issuer says. */
  at: Date;
};

/** The store of authorizations. Decisions, money and states change only by commits. */
export function createAuthorizationStore(
  { db }: Database,
  groupCommit: GroupCommit,
  sweepSlackMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<CardAuthorization>('card_authorizations');
  const dueAfter = (at: Date) => new Date(at.getTime() + sweepSlackMs);
  const commitFact = (item: AuthorizationFactItem) => groupCommit.commit(item);

  return {
    ...authorizationQueries(collection),
    ...forOperators(collection, clock),
    /** Those that hold money and that nobody follows. */
    ...overdue(collection, 'updated_at', { clock, sweepSlackMs }),

    decide: async (item: DecideItem) => (await groupCommit.commit(item)).authorization,

    commitFact,

    /** Books what the issuer says became of a payment, whether we knew of it or not. Repeats change nothing. */
    async applyState({ tenant, card, provider, token, ...told }: AuthorizationTold) {
      const { key, state, at } = told;
      const fact: AuthorizationFact = {
        key,
        kind: state.kind,
        amount_minor: state.kind === 'cleared' ? state.amountMinor : 0n,
        at,
      };
      const id = authorizationId(provider, token);
      const code = state.kind === 'declined' ? state.code : null;
      const whose = { tenant, id, card, provider, token };
      return commitFact({ kind: 'authorizationFact', ...whose, fact, code, by: 'issuer' });
    },

    /** Whether it still holds money; a hold whose time is over is given back. Also says that somebody looks after it. */
    async followHold({ tenant, id }: AuthorizationRef): Promise<HoldReport> {
      const found = await collection.findOne({ _id: id, tenant });
      if (!found?.expires_at || found.held_minor === 0n) return { held: false };
      const now = clock();
      const { card, provider, token, expires_at: end } = found;
      if (end > now) {
        const held = { _id: id, tenant, held_minor: { $gt: 0n } };
        await collection.updateOne(held, { $set: { due_at: dueAfter(end) }, $inc: { version: 1 } });
        return { held: true, againInMs: end.getTime() - now.getTime() };
      }
      const fact = { key: 'hold-over', kind: 'expired', amount_minor: 0n, at: now } as const;
      const whose = { tenant, id, card, provider, token };
      const code = 'the issuer never said what became of it';
      await commitFact({ kind: 'authorizationFact', ...whose, fact, code, by: 'clock' });
      return { held: false };
    },
  };
}

/** For operators, over all tenants. */
function forOperators(collection: Collection<CardAuthorization>, clock: () => Date) {
  const waiting = { 'attention.since': { $type: 'date' } } as const;
  return {
    find: (id: string) => collection.findOne({ _id: id }),

    /** The latest first, or those first that have waited longest. */
    latest: ({ card, attention, limit }: { card?: string; attention: boolean; limit: number }) =>
      collection
        .find({ ...(card !== undefined && { card }), ...(attention && waiting) })
        .project<Omit<CardAuthorization, 'timeline'>>({ timeline: 0 })
        .sort(attention ? { 'attention.since': 1 } : { created_at: -1, _id: -1 })
        .limit(limit)
        .toArray(),

    /** Notes that an operator has seen to what is waited for since then; false where that is not so any more. */
    async seen(
      { _id: id, attention }: Pick<CardAuthorization, '_id' | 'attention'>,
      { actor, reason }: { actor: string; reason: string },
    ): Promise<boolean> {
      if (attention === null) return false;
      const timeline = timelineEntry(clock(), 'attention_cleared', actor, { detail: reason });
      const { modifiedCount } = await collection.updateOne(
        { _id: id, 'attention.since': attention.since },
        { $set: { attention: null }, $inc: { version: 1 }, $push: { timeline } },
      );
      return modifiedCount === 1;
    },
  };
}

function authorizationQueries(collection: Collection<CardAuthorization>) {
  return {
    get: (tenant: string, id: string) => collection.findOne({ _id: id, tenant }),

    /** A card's, newest first. */
    async list(
      { tenant, card }: { tenant: string; card: string },
      { limit, offset }: OffsetListing,
    ) {
      const filter = { card, tenant };
      const [items, total] = await Promise.all([
        collection
          .find(filter, { projection: { timeline: 0 } })
          .sort({ created_at: -1, _id: -1 })
          .skip(offset)
          .limit(limit)
          .toArray(),
        collection.countDocuments(filter, { hint: { card: 1, created_at: -1, _id: -1 } }),
      ]);
      return { items, total };
    },
  };
}
