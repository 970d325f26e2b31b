import type { Collection, Filter } from 'mongodb';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { CardIssuer } from '../../core/providers/card-issuer.js';
import {
  reconciledBy,
  type Described,
  type Reconciled,
  type ReconcileScope,
} from '../../core/reconciliation/comparison.js';
import {
  recordsSince,
  type PagePosition,
  type RecordPage,
} from '../../core/reconciliation/pages.js';
import type { Database } from '../../platform/database/client.js';
import { issuerRateLimitKey } from '../../platform/temporal/queues.js';
import type { Card } from '../cards/record.js';
import type { CardParts } from '../cards/index.js';
import { applyReportedState, effectOfReport, isLive } from './locks.js';
import { readCardState, type DatedState } from './provider-calls.js';

type Deps = {
  cards: { store: Pick<CardParts['store'], 'get'> };
  database: Pick<Database, 'db'>;
  groupCommit: GroupCommit;
  providers: { issuer(name: string): CardIssuer };
};

/** A card in the statuses that a comparison knows. While the issuer sets its state, it is open. */
type Compared = Pick<Card, '_id' | 'tenant_id' | 'provider' | 'created_at' | 'updated_at'> & {
  status: 'processing' | 'completed';
  card: Card;
};

const asCompared = (card: Card): Compared => ({
  ...card,
  status: card.state_control.pending_operation_id === null ? 'completed' : 'processing',
  card,
});

/** Before the first card. */
const EVER = new Date(0);

/**
 * Cards that are active or locked, as they are compared with their issuers: a change by the issuer that no message told is applied
 * as its message would have been. A card lives for years, so a scheduled run compares those of any age; the command compares those
 * that were created since a time.
 */
export function reconciledCardStates({
  cards,
  database,
  groupCommit,
  providers,
}: Deps): Reconciled {
  const collection = database.db.collection<Card>('cards');
  const records = {
    kind: 'card-states',
    rateLimitKey: issuerRateLimitKey,
    async get(tenantId: string, id: string) {
      const card = await cards.store.get(tenantId, id);
      return card && asCompared(card);
    },
    ask: ({ provider, card }: Compared, signal: AbortSignal) =>
      readCardState(providers.issuer(provider), String(card.issued?.issuer_card_id), signal),
    agrees: ({ card }: Compared, answer: DatedState) => cardAgrees(card, answer),
    describe: ({ card }: Compared, answer: DatedState) => describeCard(card, answer),
    async apply({ _id: card, tenant_id: tenantId, card: known }: Compared, answer: DatedState) {
      if (answer.kind !== 'state') return null;
      const { state: kind, changedBy, at } = answer;
      const { sequence } = known.state_control;
      const reported = { tenantId, card, state: { kind, changedBy }, at, sequence };
      return (await groupCommit.commit(applyReportedState, reported)).verdict;
    },
  };
  const since = reconciledBy<Compared, DatedState>(records, (scope, from) =>
    liveSince(collection, scope, from),
  );
  const ever = reconciledBy<Compared, DatedState>(records, (scope, from) =>
    liveSince(collection, { ...scope, since: EVER }, from),
  );
  return { ...since, reconcilePage: (...page) => ever.reconcilePage(...page) };
}

/** True if the issuer's answer allows the state of a card. One that has ended here is none of the issuer's any more. */
export function cardAgrees(card: Card, answer: DatedState): boolean {
  if (!isLive(card)) return true;
  if (answer.kind !== 'state') return false;
  return effectOfReport(card, { kind: answer.state, changedBy: answer.changedBy }) === null;
}

/** The difference of a card that does not agree. Its balance is at stake. */
export function describeCard(card: Card, answer: DatedState): Described {
  const { status: ours, available_minor: amountMinor } = card;
  const theirs =
    answer.kind === 'state'
      ? `${answer.state}${answer.changedBy === 'issuer' ? ' by itself' : ''}`
      : 'unknown';
  return {
    breakKind: answer.kind === 'state' ? 'other_state' : 'missing_there',
    amountMinor,
    ours,
    difference: `${ours} with us, ${theirs} at the issuer`,
  };
}

/** The tenant's cards by their creation, those alone that have not ended. */
const LIVE: { filter: Filter<Card>; index: Readonly<Record<string, 1 | -1>> } = {
  filter: { status: { $in: ['active', 'locked'] } },
  index: { tenant_id: 1, created_at: -1, _id: -1 },
};

/** Yields pages of the active and locked cards that each of these tenants has created since then, the oldest first. */
async function* liveSince(
  collection: Collection<Card>,
  scope: ReconcileScope,
  from: PagePosition | null,
): AsyncGenerator<RecordPage<Compared>> {
  const [first] = scope.tenants;
  if (first === undefined) return;
  // No card is open as an instruction is, so the pages begin with the first tenant.
  const begin = from ?? { tenant: first, after: null, until: new Date().toISOString() };
  for await (const { records, next } of recordsSince(collection, scope, begin, LIVE)) {
    yield { records: records.map(asCompared), next };
  }
}
