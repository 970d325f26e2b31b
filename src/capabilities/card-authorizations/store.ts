import {
  applyCardAuthorizationFact,
  decideCardAuthorization,
  type ApplyCardAuthorizationFact,
  type AuthorizationTerms,
  type DecideCardAuthorization,
} from './mutations.js';
import type { ClientSession, Collection, Filter } from 'mongodb';
import type { Database } from '../../platform/database/client.js';
import { isDuplicate } from '../../platform/database/duplicate.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { supervisionOf } from '../../core/supervision/supervision.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type {
  AuthorizationState,
  FindAuthorizationAnswer,
} from '../../core/providers/card-issuer.js';
import { timelineEntry } from '../../core/instructions/instruction.js';
import type { OffsetListing } from '../cards/index.js';
import {
  authorizationId,
  BY_CARD,
  BY_TENANT,
  ISSUER_SILENT,
  nextVerification,
  type AuthorizationStatus,
  type CardAuthorization,
} from './record.js';
import { clearingKey, isInForce, OUR_EXPIRY, type AuthorizationFact } from './facts.js';
import { HOUR_MS } from '../../shared/durations.js';
import type { AuthorizationRef, HoldResult } from './workflow-contract.js';

/** The store of authorizations. */
export type AuthorizationStore = ReturnType<typeof createAuthorizationStore>;

/** An issuer's event about a payment, with the card and tenant that it concerns. */
export type AuthorizationNotice = {
  tenantId: string;
  card: string;
  provider: string;
  token: string;
  state: AuthorizationState;
  /** The time of the event according to the issuer, otherwise of its arrival. */
  at: Date;
};

/** The reports of an issuer about a payment. */
export type FoundAuthorization = Extract<FindAuthorizationAnswer, { kind: 'authorization' }>;

/** A payment as it was when its issuer was asked about it. */
export type AskedAuthorization = Pick<
  CardAuthorization,
  '_id' | 'tenant_id' | 'card_id' | 'provider' | 'token' | 'facts' | 'updated_at'
>;

/** Pause until the next question if the issuer did not answer. */
const SILENT_PAUSE_MS = HOUR_MS;
/** An answer of ours that was given before has reached its issuer, or never will. */
const ON_ITS_WAY_MS = HOUR_MS;

/** Creates the store of authorizations. Decisions, money and statuses are changed only by commits. */
export function createAuthorizationStore(
  { db }: Database,
  groupCommit: GroupCommit,
  { stallTimeoutMs, terms }: { stallTimeoutMs: number; terms: AuthorizationTerms },
  clock: () => Date = () => new Date(),
) {
  const collection = db.collection<CardAuthorization>('card_authorizations');
  const checkAfter = (at: Date) => new Date(at.getTime() + stallTimeoutMs);
  const commitFact = (input: ApplyCardAuthorizationFact) =>
    unlessForeign(collection, input, groupCommit.commit(applyCardAuthorizationFact, input), {
      verdict: 'unknown_card',
      authorization: null,
    });

  return {
    ...authorizationQueries(collection),
    ...forOperators(collection, clock),
    ...answersOf({ collection, commitFact, terms, clock, checkAfter }),
    /** For the dispatcher: authorizations with a hold whose workflow must be checked. */
    ...supervisionOf(
      collection,
      'updated_at',
      { clock, stallTimeoutMs },
      { acceptedField: 'created_at', open: { held_minor: { $gt: 0n } } },
    ),

    decide: async (input: DecideCardAuthorization) => {
      const committed = groupCommit.commit(decideCardAuthorization, input);
      return (await unlessForeign(collection, input, committed, { authorization: null }))
        .authorization;
    },

    commitFact,

    /** Applies an issuer's event about a payment, also of one that was never requested. Repeats change nothing. */
    async applyState({ tenantId, card, provider, token, ...notice }: AuthorizationNotice) {
      const { state, at } = notice;
      const fact = factOf(state, at);
      const id = authorizationId(provider, token);
      const code = state.kind === 'declined' ? state.code : null;
      const authorization = { tenantId, id, card, provider, token };
      return commitFact({ ...authorization, fact, code, by: 'issuer', terms });
    },

    /** Checks a hold, and postpones the dispatcher's check to after the next question to the issuer. */
    async checkHold({ tenantId, id }: AuthorizationRef): Promise<HoldResult> {
      const found = await collection.findOne({ _id: id, tenant_id: tenantId });
      if (!found?.verify_at || found.held_minor === 0n) return { held: false };
      const now = clock();
      const { verify_at: verifyAt } = found;
      await collection.updateOne(
        { _id: id, tenant_id: tenantId, held_minor: { $gt: 0n } },
        {
          $set: { next_check_at: checkAfter(verifyAt > now ? verifyAt : now) },
          $inc: { version: 1 },
        },
      );
      const nextCheckMs = Math.max(0, verifyAt.getTime() - now.getTime());
      return { held: true, nextCheckMs, ...(nextCheckMs === 0 && { verify: true }) };
    },
  };
}

/** Applies what the issuer answers about held authorizations. */
function answersOf({
  collection,
  commitFact,
  terms,
  clock,
  checkAfter,
}: {
  collection: Collection<CardAuthorization>;
  commitFact: (input: ApplyCardAuthorizationFact) => Promise<{ verdict: string }>;
  terms: AuthorizationTerms;
  clock: () => Date;
  checkAfter: (at: Date) => Date;
}) {
  /**
   * Sets the time of the next question. Past its time, a hold that nobody explains needs an operator: returns the reason if
   * attention was raised.
   */
  async function postpone(found: CardAuthorization, answered: boolean): Promise<string | null> {
    const now = clock();
    const { _id: id, tenant_id: tenantId, expires_at: end, attention } = found;
    const silentMs = Math.min(SILENT_PAUSE_MS, terms.holdMs / 10);
    const next = answered ? nextVerification(end, now) : new Date(now.getTime() + silentMs);
    // An increment that was approved meanwhile has set a time of its own.
    const held = { _id: id, tenant_id: tenantId, held_minor: { $gt: 0n }, expires_at: end };
    const set = { verify_at: next, next_check_at: checkAfter(next) };
    const isOverdue = !answered && attention === null && end !== null && end <= now;
    const cleared = answered && attention?.reason === ISSUER_SILENT;
    const { modifiedCount } = await collection.updateOne(
      { ...held, ...((isOverdue || cleared) && { 'attention.since': attention?.since ?? null }) },
      {
        $set: {
          ...set,
          ...(isOverdue && { attention: { since: now, reason: ISSUER_SILENT } }),
          ...(cleared && { attention: null }),
        },
        $inc: { version: 1 },
      },
    );
    return isOverdue && modifiedCount > 0 ? ISSUER_SILENT : null;
  }

  /**
   * Applies every report that was missed, and then, if nothing is held there any more, the end of the hold. The hold stays if a
   * message was approved since the question, or its approval is still on its way: the issuer's answer does not count for it. It stays
   * as well if the payment keeps no more reports.
   */
  async function applyReports(
    found: AskedAuthorization,
    answer: FoundAuthorization,
  ): Promise<void> {
    const { reports, over } = answer;
    const { _id: id, tenant_id: tenantId, card_id: card, provider, token } = found;
    const authorization = { tenantId, id, card, provider, token };
    for (const { state, at } of reports) {
      const code = state.kind === 'declined' ? state.code : null;
      const fact = factOf(state, at);
      const { verdict } = await commitFact({ ...authorization, fact, code, by: 'issuer', terms });
      if (verdict === 'full') return;
    }
    if (!over) return;
    const now = clock();
    const key = `${OUR_EXPIRY}${now.getTime()}`;
    const known = [...found.facts, ...reports.map(({ state, at }) => factOf(state, at))];
    // The answer is about these facts alone: one that is reported later may have happened since, whatever our clock says.
    const at = new Date(Math.max(...known.map((each) => each.at.getTime())));
    const fact = { key, kind: 'expired', amount_minor: 0n, at } as const;
    const code = 'the issuer holds nothing for this payment';
    const by = { over: coveredBy(answer, { ...found, facts: known }, now) };
    await commitFact({ ...authorization, fact, code, by, terms });
  }

  return {
    applyReports,

    /**
     * Applies the issuer's answer about a held authorization. Without an answer the hold stays, and past its time an operator
     * is called: the reason of the attention that was raised is returned.
     */
    async applyAnswer(
      found: CardAuthorization,
      answer: FindAuthorizationAnswer,
    ): Promise<string | null> {
      if (answer.kind === 'authorization') await applyReports(found, answer);
      return postpone(found, answer.kind === 'authorization');
    },
  };
}

/** The keys of the approvals for which it counts that the issuer holds nothing: it knows them, or should by now. */
function coveredBy(
  { approved }: FoundAuthorization,
  { facts, updated_at: at }: Pick<AskedAuthorization, 'facts' | 'updated_at'>,
  now: Date,
): string[] {
  const isRecent = now.getTime() - at.getTime() < ON_ITS_WAY_MS;
  const isOnItsWay = (fact: AuthorizationFact) =>
    fact.kind === 'approved' &&
    fact.stand_in === null &&
    isInForce(facts, fact.message_id) &&
    !approved.includes(fact.message_id);
  return facts
    .filter((fact) => fact.kind === 'approved' && !(isRecent && isOnItsWay(fact)))
    .map(({ key }) => key);
}

/** The fact in an issuer's report. A report that comes by message and is found too is one fact. */
export function factOf(state: AuthorizationState, at: Date): AuthorizationFact {
  const { kind, messageId } = state;
  const key = `${kind}-${messageId}`;
  switch (kind) {
    case 'approved':
      // The hold is what there is when the fact is applied.
      return {
        key: `stand-in-${messageId}`,
        kind,
        message_id: messageId,
        stand_in: state.standIn,
        amount_minor: state.amountMinor,
        held_minor: 0n,
        at,
      };
    case 'declined':
      return { key, kind, message_id: state.whole ? null : messageId, amount_minor: 0n, at };
    case 'cleared':
      return {
        key: clearingKey(messageId),
        kind,
        final: state.final,
        amount_minor: state.amountMinor,
        ...(state.forced && { forced: true }),
        at,
      };
    case 'reversed': {
      const { amountMinor } = state;
      return { key, kind, whole: amountMinor === null, amount_minor: amountMinor ?? 0n, at };
    }
    case 'expired':
      return { key, kind, amount_minor: 0n, at };
    default:
      return { key, kind, amount_minor: state.amountMinor, at };
  }
}

/**
 * The result of a commit, or `foreign` if the issuer has used the token for a card of another tenant. A commit reads data of
 * its own tenant only, so it tries to create the authorization, and its id is taken.
 */
async function unlessForeign<R>(
  collection: Collection<CardAuthorization>,
  { tenantId, id }: AuthorizationRef,
  committed: Promise<R>,
  foreign: R,
): Promise<R> {
  try {
    return await committed;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const other = { _id: id, tenant_id: { $ne: tenantId } };
    const options = { projection: { _id: 1 }, ...acrossTenants('look_up') };
    if (!(await collection.findOne(other, options))) throw error;
    return foreign;
  }
}

/** Queries and commands of operators, over all tenants. */
function forOperators(collection: Collection<CardAuthorization>, clock: () => Date) {
  const waiting = { 'attention.since': { $type: 'date' } } as const;
  return {
    find: (id: string) => collection.findOne({ _id: id }, acrossTenants('look_up')),

    /** The newest authorizations, or those that need attention, the oldest need first. */
    latest: ({ card, attention, limit }: { card?: string; attention: boolean; limit: number }) =>
      collection
        .find(
          { ...(card !== undefined && { card_id: card }), ...(attention && waiting) },
          acrossTenants('report'),
        )
        .project<Omit<CardAuthorization, 'timeline'>>({ timeline: 0 })
        .sort(attention ? { 'attention.since': 1 } : { created_at: -1, _id: -1 })
        .limit(limit)
        .toArray(),

    /** Clears the attention that the operator has seen. False if it has been cleared or raised anew since. */
    async acknowledge(
      {
        _id: id,
        tenant_id: tenantId,
        attention,
      }: Pick<CardAuthorization, '_id' | 'tenant_id' | 'attention'>,
      session: ClientSession,
    ): Promise<boolean> {
      if (attention === null) return false;
      const timeline = timelineEntry(clock(), 'attention_cleared', 'operator');
      const { modifiedCount } = await collection.updateOne(
        { _id: id, tenant_id: tenantId, 'attention.since': attention.since },
        { $set: { attention: null }, $inc: { version: 1 }, $push: { timeline } },
        { session },
      );
      return modifiedCount === 1;
    },
  };
}

/** A list of authorizations. The filters that are missing select all. */
type AuthorizationListing = {
  tenantId: string;
  card?: string | undefined;
  status?: AuthorizationStatus | undefined;
  from?: Date | undefined;
  until?: Date | undefined;
};

function authorizationQueries(collection: Collection<CardAuthorization>) {
  return {
    get: (tenantId: string, id: string) => collection.findOne({ _id: id, tenant_id: tenantId }),

    /** The authorizations of a tenant, or of one card, newest first. `until` is exclusive. */
    async list(
      { tenantId, card, status, from, until }: AuthorizationListing,
      { limit, offset }: OffsetListing,
    ) {
      const at = { ...(from && { $gte: from }), ...(until && { $lt: until }) };
      const filter: Filter<CardAuthorization> = {
        tenant_id: tenantId,
        ...(card !== undefined && { card_id: card }),
        ...(status !== undefined && { status }),
        ...((from ?? until) && { created_at: at }),
      };
      const hint = card === undefined ? BY_TENANT : BY_CARD;
      const [items, total] = await Promise.all([
        collection
          .find(filter, { projection: { timeline: 0 } })
          .sort({ created_at: -1, _id: -1 })
          .hint(hint)
          .skip(offset)
          .limit(limit)
          .toArray(),
        collection.countDocuments(filter, { hint }),
      ]);
      return { items, total };
    },
  };
}
