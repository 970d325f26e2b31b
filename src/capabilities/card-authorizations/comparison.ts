import type { Collection } from 'mongodb';
import type { CardIssuer, FindAuthorizationAnswer } from '../../core/providers/card-issuer.js';
import type { BreakKind } from '../../core/reconciliation/break.js';
import {
  reconciledBy,
  verdictOf,
  type Described,
  type Reconciled,
  type ReconcileScope,
} from '../../core/reconciliation/comparison.js';
import {
  PAGE,
  tenantsLeft,
  type PagePosition,
  type RecordPage,
} from '../../core/reconciliation/pages.js';
import type { Database } from '../../platform/database/client.js';
import { issuerRateLimitKey } from '../../platform/temporal/queues.js';
import { balanceAfter, isOwn, type AuthorizationFact } from './facts.js';
import type { AuthorizationTerms } from './mutations.js';
import { BY_TENANT, takenOf, type AuthorizationStatus, type CardAuthorization } from './record.js';
import {
  factOf,
  type AuthorizationStore,
  type FoundAuthorization,
  type AskedAuthorization,
} from './store.js';

type Deps = {
  cardAuthorizations: {
    store: Pick<AuthorizationStore, 'get'>;
    applyReports(found: AskedAuthorization, answer: FoundAuthorization): Promise<void>;
  };
  config: { cards: { authorizationTerms: Pick<AuthorizationTerms, 'holdMs'> } };
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
 * message told, such as a forced clearing or a refund, is booked as if its message had come. A report that the issuer does not
 * have, and another amount, stay a difference: nothing is booked for them. A payment may be held for its whole time first, so those
 * that were created that much before the time of the comparison belong to it. One that we declined is compared too: the network
 * may have approved it in our place.
 */
export const reconciledAuthorizations = ({
  cardAuthorizations,
  config,
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
        await cardAuthorizations.applyReports(record, answer);
        return verdictOf(record, await get(record.tenant_id, record._id));
      },
    },
    ({ since, ...scope }, from) => {
      const begin = new Date(since.getTime() - config.cards.authorizationTerms.holdMs);
      return endedSince(collection, { ...scope, since: begin }, from);
    },
  );
};

/**
 * The facts of a payment as its issuer has them: our own ones, and its reports. A report that is known here has the place and the
 * hold that it has here.
 */
function factsThere(
  facts: readonly AuthorizationFact[],
  { reports }: FoundAuthorization,
): AuthorizationFact[] {
  const known = new Map(facts.map((fact) => [fact.key, fact]));
  const reported = reports.map(({ state, at }): AuthorizationFact => {
    const theirs = factOf(state, at);
    const ours = known.get(theirs.key);
    if (!ours) return theirs;
    return theirs.kind === 'approved' && ours.kind === 'approved'
      ? { ...theirs, at: ours.at, held_minor: ours.held_minor }
      : { ...theirs, at: ours.at };
  });
  return [...facts.filter(isOwn), ...reported];
}

function isSameMoney(some: readonly AuthorizationFact[], others: readonly AuthorizationFact[]) {
  const [ours, theirs] = [balanceAfter(some), balanceAfter(others)];
  return (
    ours.clearedMinor === theirs.clearedMinor &&
    ours.refundedMinor === theirs.refundedMinor &&
    ours.approvedMinor === theirs.approvedMinor
  );
}

/** True if the issuer holds nothing any more, and no fact has ended its hold here. */
const isReleasedThere = (facts: readonly AuthorizationFact[], { over }: FoundAuthorization) =>
  over && balanceAfter(facts).openMinor > 0n;

/**
 * True if the issuer's reports, with our own decisions and disputes, lead to the amounts that are booked. A payment that it does
 * not know agrees if nothing of it is taken: an issuer may forget what it has declined or ended.
 */
export function authorizationAgrees(
  one: Pick<CardAuthorization, 'facts'> & Parameters<typeof takenOf>[0],
  answer: FindAuthorizationAnswer,
): boolean {
  if (answer.kind !== 'authorization') return takenOf(one) === 0n;
  const { facts } = one;
  return isSameMoney(facts, factsThere(facts, answer)) && !isReleasedThere(facts, answer);
}

/** The difference of a payment that does not agree. A report that is missing here comes first: it is the one that is booked. */
export function describeAuthorization(
  one: Pick<Compared, 'facts' | 'standing' | 'amount_minor'> & Parameters<typeof takenOf>[0],
  answer: FindAuthorizationAnswer,
): Described {
  const { facts, standing, amount_minor: amount } = one;
  if (answer.kind !== 'authorization') {
    const difference = `${standing} with us, unknown at the issuer`;
    const amountMinor = absolute(takenOf(one));
    return { breakKind: 'missing_there', amountMinor, ours: standing, difference };
  }
  const there = factsThere(facts, answer);
  const missing = absolute(movedIn(there) - movedIn(facts));
  const amountMinor = missing === 0n ? amount : missing;
  const [breakKind, words] = differenceOf(facts, there);
  return { breakKind, amountMinor, ours: standing, difference: `${standing} with us, ${words}` };
}

function differenceOf(
  facts: readonly AuthorizationFact[],
  there: readonly AuthorizationFact[],
): [BreakKind, string] {
  const known = new Map(facts.map((fact) => [fact.key, fact]));
  const missing = there.filter(({ key }) => !known.has(key));
  if (!isSameMoney(facts, [...facts, ...missing])) {
    return ['other_state', 'with reports at the issuer that are missing here'];
  }
  const isOther = ({ key, amount_minor: amount }: AuthorizationFact) =>
    known.has(key) && known.get(key)?.amount_minor !== amount;
  if (there.some(isOther)) return ['other_amount', 'with another amount in a report of the issuer'];
  return isSameMoney(facts, there)
    ? ['other_state', 'held no more at the issuer']
    : ['missing_there', 'with reports here that are missing at the issuer'];
}

/** The amount that was taken and that no refund has returned. */
function movedIn(facts: readonly AuthorizationFact[]): bigint {
  const { clearedMinor, refundedMinor } = balanceAfter(facts);
  return clearedMinor - refundedMinor;
}

const absolute = (amount: bigint) => (amount < 0n ? -amount : amount);

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
  const { tenants: left, after: place } = tenantsLeft(tenants, from);
  let after = place;
  for (const tenant of left) {
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
