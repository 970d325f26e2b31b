import type { Collection } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { AcceptResult, Claim } from '../../core/commit/accept.js';
import type { SetupFact } from './setup.js';
import { textEquals } from '../../platform/database/indexes.js';
import { fieldIs } from '../../platform/sealing/sealed-fields.js';
import type { Sealing } from '../../platform/sealing/sealing.js';
import { supervisionOf } from '../../core/supervision/supervision.js';
import {
  acrossTenants,
  BY_ID,
  ownedFilter,
  type Owned,
} from '../../platform/database/tenant-filters.js';
import {
  applyTokenSetupFact,
  createPaymentToken,
  deletePaymentToken,
  requestTokenSetup,
  type CreatePaymentToken,
} from './mutations.js';
import { notRevoked, paymentTokens, type PaymentToken } from './record.js';

const WAITING = { 'attention.since': { $type: 'date' } } as const;

/** The store of payment tokens. */
export type Tokens = ReturnType<typeof createTokens>;

/** Creates the store of payment tokens. Commits create and bind them. */
export function createTokens(
  { db }: Database,
  groupCommit: GroupCommit,
  { stallTimeoutMs, attentionAfterMs }: { stallTimeoutMs: number; attentionAfterMs: number },
  sealing: Pick<Sealing, 'blindIndexes'>,
) {
  const collection = db.collection<PaymentToken>('payment_tokens');
  const ofRevocation = ({ _id, tenant_id, revoking }: PaymentToken) => ({
    _id,
    tenant_id,
    ...fieldIs(sealing, paymentTokens, 'revoking', revoking),
  });
  return {
    ...supervisionOf(
      collection,
      'updated_at',
      { stallTimeoutMs },
      // Every token with a next check has an open revocation or a page that is asked about.
      { acceptedField: 'updated_at', open: {} },
    ),

    ...setups(collection, groupCommit, { stallTimeoutMs }),
    ...lists(collection),

    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    create: (input: CreatePaymentToken): Promise<AcceptResult> =>
      groupCommit.commit(createPaymentToken, input),

    delete: (tenantId: string, id: string, claim: Claim | null): Promise<AcceptResult> =>
      groupCommit.commit(deletePaymentToken, { tenantId, id, claim }),

    /** Finds a token by id alone, for the messages of providers. */
    find: (id: string) => collection.findOne({ _id: id }, acrossTenants('look_up')),

    /** The token whose latest page has this id at its provider, for the messages of providers. */
    withSetup: (provider: string, handle: string) =>
      collection.findOne(
        { provider, 'setup.handle': textEquals(handle) },
        acrossTenants('look_up'),
      ),

    /** True if an active token, of any tenant, is charged by this authorization. */
    isInUse: async (authorization: string): Promise<boolean> =>
      (await collection.findOne(
        { ...fieldIs(sealing, paymentTokens, 'authorization', authorization), status: 'active' },
        { projection: { _id: 1 }, ...acrossTenants('look_up') },
      )) !== null,

    /**
     * Forgets an authorization that the provider has revoked, and the next one takes its place. Changes nothing if a further one
     * was added after `token` was read. Returns true if it has.
     */
    async endRevocation(token: PaymentToken): Promise<boolean> {
      const { revoking_later: all = [] } = token;
      const [next = null, ...later] = all;
      const { matchedCount } = await collection.updateOne(
        { ...ofRevocation(token), [`revoking_later.${all.length}`]: { $exists: false } },
        {
          $set: {
            revoking: next,
            ...(next === null ? { next_check_at: null } : { revoking_later: later }),
            attention: null,
            updated_at: new Date(),
          },
          $inc: { version: 1 },
        },
      );
      return matchedCount === 1;
    },

    /**
     * Raises attention if the provider has been asked for long, and returns its reason if this call has raised it.
     * `answer`: the kind of the provider's latest answer.
     */
    async noteUnrevoked(token: PaymentToken, answer: string): Promise<string | null> {
      const now = new Date();
      const before = new Date(now.getTime() - attentionAfterMs);
      const reason = notRevoked(answer);
      const { modifiedCount } = await collection.updateOne(
        { ...ofRevocation(token), attention: null, updated_at: { $lt: before } },
        { $set: { attention: { since: now, reason } }, $inc: { version: 1 } },
      );
      return modifiedCount === 0 ? null : reason;
    },
  };
}

/** Lists of payment tokens. */
const lists = (collection: Collection<PaymentToken>) => ({
  /** For operators: the newest tokens, or those that need attention, the oldest need first. */
  latest: ({
    tenantId,
    attention,
    limit,
  }: {
    tenantId?: string;
    attention: boolean;
    limit: number;
  }): Promise<PaymentToken[]> =>
    collection
      .find(
        { ...(tenantId !== undefined && { tenant_id: tenantId }), ...(attention && WAITING) },
        acrossTenants('report'),
      )
      .sort(attention ? { 'attention.since': 1 } : { _id: -1 })
      .limit(limit)
      .toArray(),

  /** Lists the tokens of a customer, newest first. */
  async list(tenantId: string, customer: string, { page, limit }: { page: number; limit: number }) {
    const filter = { tenant_id: tenantId, 'customer.id': customer };
    const [items, total] = await Promise.all([
      collection
        .find(filter)
        .sort({ created_at: -1, _id: -1 })
        .skip((page - 1) * limit)
        .limit(limit)
        .toArray(),
      collection.countDocuments(filter),
    ]);
    return { items, total };
  },
});

/** Requests for pages without a payment, and the facts about them. */
function setups(
  collection: Collection<PaymentToken>,
  groupCommit: GroupCommit,
  { stallTimeoutMs }: { stallTimeoutMs: number },
) {
  return {
    requestSetup: (input: {
      tenantId: string;
      id: string;
      returnUrl: string | null;
      expiresAfterMs: number;
      claim: Claim | null;
    }): Promise<AcceptResult> => groupCommit.commit(requestTokenSetup, input),

    /** Applies a fact about a page of a token. Returns the token after it. */
    applySetupFact: async (
      { tenant_id: tenantId, _id: id }: Pick<PaymentToken, 'tenant_id' | '_id'>,
      number: number,
      fact: SetupFact,
    ): Promise<PaymentToken | null> =>
      (await groupCommit.commit(applyTokenSetupFact, { tenantId, id, number, fact })).token,

    /** Those of these tokens whose page is open or over. */
    withOpenPage: (owned: Owned[]): Promise<PaymentToken[]> =>
      collection
        .find({ ...ownedFilter(owned), 'setup.status': { $ne: 'pending' } }, BY_ID)
        .toArray(),

    /** The token's workflow looks at it after this pause, so the dispatcher need not earlier. */
    async postponeCheck({ _id, tenant_id }: PaymentToken, pauseMs: number): Promise<void> {
      const next = new Date(Date.now() + pauseMs + stallTimeoutMs);
      await collection.updateOne(
        { _id, tenant_id, revoking: null, next_check_at: { $ne: null } },
        { $set: { next_check_at: next }, $inc: { version: 1 } },
      );
    },
  };
}
