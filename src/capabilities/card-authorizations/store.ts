import {
  applyCardAuthorizationFact,
  decideCardAuthorization,
  type ApplyCardAuthorizationFact,
  type DecideCardAuthorization,
} from './mutations.js';
import type { Collection } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { supervisionOf } from '../../core/supervision/supervision.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { AuthorizationState } from '../../core/providers/card-issuer.js';
import { timelineEntry } from '../../core/instructions/timeline.js';
import type { OffsetListing } from '../cards/index.js';
import {
  authorizationId,
  type AuthorizationFact,
  type CardAuthorization,
} from './card-authorization.js';
import type { AuthorizationRef, HoldResult } from './workflow-contract.js';

/** The store of authorizations. */
export type AuthorizationStore = ReturnType<typeof createAuthorizationStore>;

/** An issuer's event about a payment, with the card and tenant that it concerns. */
export type AuthorizationNotice = {
  tenantId: string;
  card: string;
  provider: string;
  token: string;
  /** Identifies the event, so that a repeat is ignored. */
  key: string;
  state: AuthorizationState;
  /** The time of the event according to the issuer, otherwise of its arrival. */
  at: Date;
};

/** Creates the store of authorizations. Decisions, money and statuses are changed only by commits. */
export function createAuthorizationStore(
  { db }: Database,
  groupCommit: GroupCommit,
  stallTimeoutMs: number,
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<CardAuthorization>('card_authorizations');
  const checkAfter = (at: Date) => new Date(at.getTime() + stallTimeoutMs);
  const commitFact = (input: ApplyCardAuthorizationFact) =>
    groupCommit.commit(applyCardAuthorizationFact, input);

  return {
    ...authorizationQueries(collection),
    ...forOperators(collection, clock),
    /** For the dispatcher: authorizations with a hold whose workflow must be checked. */
    ...supervisionOf(collection, 'updated_at', { clock, stallTimeoutMs }),

    decide: async (input: DecideCardAuthorization) =>
      (await groupCommit.commit(decideCardAuthorization, input)).authorization,

    commitFact,

    /** Applies an issuer's event about a payment, also of one that was never requested. Repeats change nothing. */
    async applyState({ tenantId, card, provider, token, ...notice }: AuthorizationNotice) {
      const { key, state, at } = notice;
      const fact: AuthorizationFact = {
        key,
        kind: state.kind,
        amount_minor: state.kind === 'cleared' ? state.amountMinor : 0n,
        at,
      };
      const id = authorizationId(provider, token);
      const code = state.kind === 'declined' ? state.code : null;
      const authorization = { tenantId, id, card, provider, token };
      return commitFact({ ...authorization, fact, code, by: 'issuer' });
    },

    /** Checks a hold: releases it if it has expired, otherwise postpones the dispatcher's check to after its expiry. */
    async checkHold({ tenantId, id }: AuthorizationRef): Promise<HoldResult> {
      const found = await collection.findOne({ _id: id, tenant_id: tenantId });
      if (!found?.expires_at || found.held_minor === 0n) return { held: false };
      const now = clock();
      const { card_id: card, provider, token, expires_at: end } = found;
      if (end > now) {
        const held = { _id: id, tenant_id: tenantId, held_minor: { $gt: 0n } };
        await collection.updateOne(held, {
          $set: { next_check_at: checkAfter(end) },
          $inc: { version: 1 },
        });
        return { held: true, nextCheckMs: end.getTime() - now.getTime() };
      }
      const fact = { key: 'hold-expired', kind: 'expired', amount_minor: 0n, at: now } as const;
      const authorization = { tenantId, id, card, provider, token };
      const code = 'the issuer reported nothing before the hold expired';
      await commitFact({ ...authorization, fact, code, by: 'clock' });
      return { held: false };
    },
  };
}

/** Queries and commands of operators, over all tenants. */
function forOperators(collection: Collection<CardAuthorization>, clock: () => Date) {
  const waiting = { 'attention.since': { $type: 'date' } } as const;
  return {
    find: (id: string) => collection.findOne({ _id: id }),

    /** The newest authorizations, or those that need attention, the oldest need first. */
    latest: ({ card, attention, limit }: { card?: string; attention: boolean; limit: number }) =>
      collection
        .find({ ...(card !== undefined && { card_id: card }), ...(attention && waiting) })
        .project<Omit<CardAuthorization, 'timeline'>>({ timeline: 0 })
        .sort(attention ? { 'attention.since': 1 } : { created_at: -1, _id: -1 })
        .limit(limit)
        .toArray(),

    /** Clears the attention that the operator has seen. False if it has been cleared or raised anew since. */
    async acknowledge(
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

    /** The authorizations of a card, newest first. */
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
