import { reconciledCardStates } from '../../src/capabilities/card-states/comparison.js';
import { createCardStore } from '../../src/capabilities/cards/store.js';
import type { Card } from '../../src/capabilities/cards/record.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import type { CardIssuer, ReadStateAnswer } from '../../src/core/providers/card-issuer.js';
import type { FoundBreak } from '../../src/core/reconciliation/break.js';
import { emptyReport } from '../../src/core/reconciliation/comparison.js';
import type { PagePosition } from '../../src/core/reconciliation/pages.js';
import { DAY_MS } from '../../src/shared/durations.js';
import { openCard } from '../support/card-record.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';

const TENANTS = ['ten_a', 'ten_b'];
const LOCK = { since: new Date() };

let database: TestDatabase;
/** The issuer's answers by its ids of the cards, and the cards that were asked about. */
let answers: Map<string, ReadStateAnswer>;
let asked: string[];
let found: FoundBreak[];

beforeEach(async () => {
  database = await openTestDatabase();
  answers = new Map();
  asked = [];
  found = [];
});
afterEach(() => database.close());

const answer = (
  state: 'open' | 'locked' | 'closed' | 'inactive',
  changedBy: 'us' | 'issuer' | null = 'issuer',
  changedAt: Date | null = new Date(),
): ReadStateAnswer => ({
  kind: 'state',
  state,
  changedBy,
  changedAt,
  version: 0,
  providerRequestId: null,
});

/** Inserts a card that is as old as this. Its issuer has it as open. */
async function card(id: string, days: number, changes: Partial<Card> = {}): Promise<void> {
  const made = openCard({ _id: id, ...changes });
  const created = new Date(Date.now() - days * DAY_MS);
  const issued = made.issued && { ...made.issued, issuer_card_id: `at-${id}` };
  const times = { created_at: created, updated_at: created };
  await database.db.collection<Card>('cards').insertOne({ ...made, issued, ...times });
  answers.set(`at-${id}`, answer('open', null, null));
}

const stored = (id: string) => database.db.collection<Card>('cards').findOne({ _id: id });

function parts() {
  const store = createCardStore(database);
  const issuer = {
    readState: async (id: string) => {
      asked.push(id);
      return answers.get(id) ?? ({ kind: 'not_found', providerRequestId: null } as const);
    },
  } as unknown as CardIssuer;
  return reconciledCardStates({
    cards: { store },
    database,
    groupCommit: createGroupCommit(database),
    providers: { issuer: () => issuer },
  });
}

const runOf = (apply: boolean) => ({
  apply,
  takeTurn: async () => undefined,
  report: emptyReport(),
  breaks: {
    note: async (given: { found: readonly FoundBreak[] }) => void found.push(...given.found),
  },
});

/** Compares all pages, as the Schedule does. */
async function compareAll(apply = true) {
  const run = runOf(apply);
  const scope = { since: new Date(Date.now() - DAY_MS), tenants: TENANTS, limit: 2 };
  let position: PagePosition | null = null;
  do position = await parts().reconcilePage(run, scope, position);
  while (position !== null);
  return run.report;
}

test('a scheduled run asks about each active and locked card once, of any age and tenant', async () => {
  await card('crd_1', 400);
  await card('crd_2', 400, { status: 'locked', locks: { issuer: LOCK, operator: null } });
  answers.set('at-crd_2', answer('locked'));
  await card('crd_3', 3);
  await card('crd_4', 0.5, { tenant_id: 'ten_b' });
  for (const status of ['pending', 'failed', 'closed', 'expired'] as const) {
    await card(`crd_${status}`, 3, { status });
  }
  expect(await compareAll()).toMatchObject({ asked: 4, unanswered: 0, differing: 0 });
  expect(asked.toSorted()).toEqual(['at-crd_1', 'at-crd_2', 'at-crd_3', 'at-crd_4']);

  asked = [];
  const since = new Date(Date.now() - DAY_MS);
  await parts().reconcile(runOf(false), { since, tenants: TENANTS });
  expect(asked).toEqual(['at-crd_4']);
});

test('a change of the issuer is applied, and only if the run applies', async () => {
  const byTenant = {
    desired: 'locked',
    sequence: 1,
    confirmed_sequence: 1,
    pending_operation_id: null,
    doubted_at: null,
    reported_at: null,
  } as const;
  await card('crd_locked', 3);
  answers.set('at-crd_locked', answer('locked'));
  await card('crd_open', 3, { status: 'locked', locks: { issuer: LOCK, operator: null } });
  answers.set('at-crd_open', answer('open'));
  await card('crd_closed', 3, { available_minor: 0n });
  answers.set('at-crd_closed', answer('closed'));
  await card('crd_undone', 3, { status: 'locked', state_control: byTenant });
  answers.set('at-crd_undone', answer('open'));

  expect(await compareAll(false)).toMatchObject({ differing: 4, settled: 0 });
  expect(new Map(found.map(({ reference, difference }) => [reference, difference]))).toEqual(
    new Map([
      ['crd_closed', 'active with us, closed by itself at the issuer'],
      ['crd_locked', 'active with us, locked by itself at the issuer'],
      ['crd_open', 'locked with us, open by itself at the issuer'],
      ['crd_undone', 'locked with us, open by itself at the issuer'],
    ]),
  );
  expect((await stored('crd_locked'))?.status).toBe('active');

  found = [];
  expect(await compareAll()).toMatchObject({ differing: 4, settled: 4 });
  expect(found).toEqual([]);
  expect(await stored('crd_locked')).toMatchObject({
    status: 'locked',
    locks: { issuer: { since: expect.any(Date) } },
  });
  expect(await stored('crd_open')).toMatchObject({ status: 'active', locks: { issuer: null } });
  expect((await stored('crd_closed'))?.status).toBe('closed');
  // The tenant's lock is set again at the issuer.
  const { state_control: control } = (await stored('crd_undone')) ?? {};
  expect(control?.pending_operation_id).toMatch(/^cop_/);
});

test('an answer that is older than a report changes nothing, and is a break', async () => {
  const control = openCard().state_control;
  await card('crd_1', 3, { state_control: { ...control, reported_at: new Date() } });
  answers.set('at-crd_1', answer('locked', 'issuer', new Date(Date.now() - 60_000)));
  expect(await compareAll()).toMatchObject({ differing: 1, settled: 0 });
  expect(await stored('crd_1')).toMatchObject({ status: 'active', version: 1 });
  expect(found).toMatchObject([{ kind: 'other_state', capability: 'card-states' }]);
});

test('a card that the issuer does not know is a break with its balance, and stays as it is', async () => {
  await card('crd_1', 3, { available_minor: 700n });
  answers.delete('at-crd_1');
  expect(await compareAll()).toMatchObject({ differing: 1, settled: 0 });
  expect(found).toMatchObject([
    {
      kind: 'missing_there',
      reference: 'crd_1',
      amountMinor: 700n,
      difference: 'active with us, unknown at the issuer',
    },
  ]);
  expect(await stored('crd_1')).toMatchObject({ status: 'active', version: 1 });
});
