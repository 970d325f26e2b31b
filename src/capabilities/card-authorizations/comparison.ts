import type { Collection } from 'mongodb';
import type { CardIssuer, FindAuthorizationAnswer } from '../../core/providers/card-issuer.js';
import {
  reconciledBy,
  verdictOf,
  type Described,
  type Reconciled,
  type ReconcileScope,
} from '../../core/reconciliation/comparison.js';
import { PAGE, type PagePosition, type RecordPage } from '../../core/reconciliation/pages.js';
import type { Database } from '../../platform/database/client.js';
import { issuerRateLimitKey } from '../../platform/temporal/queues.js';
import { balanceAfter, type AuthorizationFact } from './facts.js';
import { BY_TENANT, takenOf, type AuthorizationStatus, type CardAuthorization } from './record.js';
import { factOf, type AuthorizationNotice, type AuthorizationStore } from './store.js';

type Deps = {
  cardAuthorizations: {
    store: Pick<AuthorizationStore, 'get'>;
    applyAuthorizationState(notice: AuthorizationNotice): Promise<unknown>;
  };
  database: Database;
  providers: { issuer(name: string): CardIssuer };
};

/** A payment in the statuses that a comparison knows. While it holds money it is open, and its workflow asks about it daily. */
type Compared = Omit<CardAuthorization, 'status'> & {
  status: 'processing' | 'completed';
  standing: AuthorizationStatus;
};

const asCompared = (one: CardAuthorization): Compared => ({
  ...one,
  status: one.held_minor > 0n ? 'processing' : 'completed',
  standing: one.status,
});

/**
 * Payments without a hold, as they are compared with their issuers: nobody else asks about them any more. A report that no
 * message told, such as a forced clearing or a refund, is booked as if its message had come.
 */
export const reconciledAuthorizations = ({
  cardAuthorizations,
  database,
  providers,
}: Deps): Reconciled => {
  async function get(tenantId: string, id: string): Promise<Compared | null> {
    const found = await cardAuthorizations.store.get(tenantId, id);
    return found && asCompared(found);
  }
  const collection = database.db.collection<CardAuthorization>('card_authorizations');
  return reconciledBy<Compared, FindAuthorizationAnswer>(
    {
      kind: 'card-authorizations',
      rateLimitKey: issuerRateLimitKey,
      get,
      ask: ({ provider, token }, signal) =>
        providers.issuer(provider).findAuthorization(token, signal),
      agrees: authorizationAgrees,
      describe: describeAuthorization,
      async apply(record, answer) {
        if (answer.kind !== 'authorization') return null;
        const { tenant_id: tenantId, _id: id, card_id: card, provider, token } = record;
        for (const report of answer.reports) {
          await cardAuthorizations.applyAuthorizationState({
            tenantId,
            card,
            provider,
            token,
            ...report,
          });
        }
        return verdictOf(record, await get(tenantId, id));
      },
    },
    (scope, from) => endedSince(collection, scope, from),
  );
};

/** The facts of a payment with those that its issuer has reported and that are missing here. */
function factsWith(
  { facts }: Pick<CardAuthorization, 'facts'>,
  answer: FindAuthorizationAnswer,
): AuthorizationFact[] {
  if (answer.kind !== 'authorization') return facts;
  const known = new Set(facts.map(({ key }) => key));
  const reported = answer.reports.map(({ state, at }) => factOf(state, at));
  return [...facts, ...reported.filter(({ key }) => !known.has(key))];
}

/**
 * True if the issuer's reports lead to the amounts that are booked. A payment that it does not know agrees if nothing of it is
 * taken: an issuer may forget what it has declined or ended.
 */
export function authorizationAgrees(
  one: Pick<CardAuthorization, 'facts'> & Parameters<typeof takenOf>[0],
  answer: FindAuthorizationAnswer,
): boolean {
  if (answer.kind === 'not_found') return takenOf(one) === 0n;
  const [ours, theirs] = [balanceAfter(one.facts), balanceAfter(factsWith(one, answer))];
  return (
    ours.clearedMinor === theirs.clearedMinor &&
    ours.refundedMinor === theirs.refundedMinor &&
    ours.approvedMinor === theirs.approvedMinor
  );
}

function describeAuthorization(one: Compared, answer: FindAuthorizationAnswer): Described {
  const { standing, amount_minor: amount } = one;
  if (answer.kind === 'not_found') {
    const difference = `${standing} with us, unknown at the issuer`;
    return { breakKind: 'missing_there', amountMinor: takenOf(one), ours: standing, difference };
  }
  const theirs = balanceAfter(factsWith(one, answer));
  const taken = theirs.clearedMinor - theirs.refundedMinor;
  const missing = taken - (one.cleared_minor - one.refunded_minor);
  return {
    breakKind: 'other_state',
    amountMinor: missing === 0n ? amount : missing < 0n ? -missing : missing,
    ours: standing,
    difference: `${standing} with us, with reports at the issuer that are missing here`,
  };
}

/** The order of the index of a tenant's payments, backwards. */
const OLDEST_FIRST = { created_at: 1, status: -1, _id: 1 } as const;

/**
 * Yields pages of the payments without a hold that each of these tenants has had since then, the oldest first. The payments of one
 * moment are in one page, so the position after it is that moment.
 */
async function* endedSince(
  collection: Collection<CardAuthorization>,
  { since, tenants, limit = PAGE }: ReconcileScope,
  from: PagePosition | null,
): AsyncGenerator<RecordPage<Compared>> {
  const until = from?.until ?? new Date().toISOString();
  const options = { projection: { timeline: 0 }, hint: BY_TENANT };
  let after = from?.after ?? null;
  for (const tenant of tenants.slice(Math.max(0, tenants.indexOf(from?.tenant ?? '')))) {
    const ended = { tenant_id: tenant, held_minor: 0n };
    for (let isFull = true; isFull;) {
      const begin = after ? { $gt: new Date(after.createdAt) } : { $gte: since };
      const page = await collection
        .find({ ...ended, created_at: { ...begin, $lt: new Date(until) } }, options)
        .sort(OLDEST_FIRST)
        .limit(limit)
        .toArray();
      const last = page.at(-1);
      if (!last) break;
      isFull = page.length === limit;
      const ids = page.map(({ _id }) => _id);
      const same = { ...ended, created_at: last.created_at, _id: { $nin: ids } };
      const rest = isFull ? await collection.find(same, options).toArray() : [];
      after = { id: last._id, createdAt: last.created_at.toISOString() };
      yield { records: [...page, ...rest].map(asCompared), next: { tenant, after, until } };
    }
    after = null;
  }
  yield { records: [], next: null };
}
