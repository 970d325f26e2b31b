import { applyCardAuthorizationFact, decideCardAuthorization } from './mutations.js';
import type { Collection } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { supervisionOf } from '../../core/supervision/supervision.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { AuthorizationState } from '../../core/providers/card-issuer.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import type { OffsetListing } from '../cards/store.js';
import {
  authorizationId,
  type AuthorizationFact,
  type CardAuthorization,
} from './card-authorization.js';
import type { ApplyCardAuthorizationFact, DecideCardAuthorization } from './item.js';
import type { AuthorizationRef, HoldResult } from './workflow-contract.js';

export type AuthorizationStore = ReturnType<typeof createAuthorizationStore>;

/** What an issuer said became of a payment, and whose card it was. */
export type AuthorizationTold = {
  tenantId: string;
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
  stallTimeoutMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<CardAuthorization>('card_authorizations');
  const dueAfter = (at: Date) => new Date(at.getTime() + stallTimeoutMs);
  const commitFact = (input: ApplyCardAuthorizationFact) =>
    groupCommit.commit(applyCardAuthorizationFact, input);

  return {
    ...authorizationQueries(collection),
    ...forOperators(collection, clock),
    /** Those that hold money and that nobody follows. */
    ...supervisionOf(collection, 'updated_at', { clock, stallTimeoutMs }),

    decide: async (input: DecideCardAuthorization) =>
      (await groupCommit.commit(decideCardAuthorization, input)).authorization,

    commitFact,

    /** Books what the issuer says became of a payment, whether we knew of it or not. Repeats change nothing. */
    async applyState({ tenantId, card, provider, token, ...told }: AuthorizationTold) {
      const { key, state, at } = told;
      const fact: AuthorizationFact = {
        key,
        kind: state.kind,
        amount_minor: state.kind === 'cleared' ? state.amountMinor : 0n,
        at,
      };
      const id = authorizationId(provider, token);
      const code = state.kind === 'declined' ? state.code : null;
      const whose = { tenantId, id, card, provider, token };
      return commitFact({ ...whose, fact, code, by: 'issuer' });
    },

    /** Whether it still holds money; a hold whose time is over is given back. Also says that somebody looks after it. */
    async followHold({ tenantId, id }: AuthorizationRef): Promise<HoldResult> {
      const found = await collection.findOne({ _id: id, tenant_id: tenantId });
      if (!found?.expires_at || found.held_minor === 0n) return { held: false };
      const now = clock();
      const { card_id: card, provider, token, expires_at: end } = found;
      if (end > now) {
        const held = { _id: id, tenant_id: tenantId, held_minor: { $gt: 0n } };
        await collection.updateOne(held, {
          $set: { next_check_at: dueAfter(end) },
          $inc: { version: 1 },
        });
        return { held: true, nextCheckMs: end.getTime() - now.getTime() };
      }
      const fact = { key: 'hold-expired', kind: 'expired', amount_minor: 0n, at: now } as const;
      const whose = { tenantId, id, card, provider, token };
      const code = 'the issuer never said what became of it';
      await commitFact({ ...whose, fact, code, by: 'clock' });
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
        .find({ ...(card !== undefined && { card_id: card }), ...(attention && waiting) })
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
    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** A card's, newest first. */
    async list(
      { tenantId, card }: { tenantId: string; card: string },
      { limit, offset }: OffsetListing,
    ) {
      const filter = { card_id: card, tenant_id: tenantId };
      const [items, total] = await Promise.all([
        collection
          .find(filter, { projection: { timeline: 0 } })
          .sort({ created_at: -1, _id: -1 })
          .skip(offset)
          .limit(limit)
          .toArray(),
        collection.countDocuments(filter, { hint: { card_id: 1, created_at: -1, _id: -1 } }),
      ]);
      return { items, total };
    },
  };
}
