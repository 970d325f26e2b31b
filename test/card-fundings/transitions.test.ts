import { type AnyMutation, type AnyResult } from '../support/mutations.js';
import fc from 'fast-check';
import { cards, type CardStatus } from '../../src/capabilities/cards/record.js';
import { fundReversalIdOf } from '../../src/capabilities/card-fundings/transitions.js';
import type { FundingFact } from '../../src/capabilities/card-fundings/transitions.js';
import { checkFunding } from '../../src/capabilities/cards/audit.js';
import {
  cardOperations,
  isFunding,
  type CardOperation,
} from '../../src/capabilities/cards/card-operation.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import { isOpen, needsWorkflow } from '../../src/core/instructions/instruction.js';
import { balances, run } from '../support/decisions.js';
import { CARD, openCard } from '../support/card-record.js';
import { pendingFunding, reloadOf, snapshotWith } from '../support/fundings.js';
import { storedPostings } from '../support/stored-postings.js';
import { byProvider, NOW } from '../support/transfers.js';

const START = 2_000n;
const IDS = ['cop_a', 'cop_b', 'cop_c'];
const amountOf = (id: string) => BigInt(100 * (IDS.indexOf(id) + 1));

const factOf = (kind: FundingFact['kind'], via: FundingFact['via'], amountMinor: bigint | null) => {
  const origin = { ...byProvider, via };
  if (kind === 'rejected') return { ...origin, kind, code: 'funding_refused' };
  if (kind === 'operator_confirmed') {
    return { ...origin, kind, ...(amountMinor !== null && { amountMinor, sessionId: null }) };
  }
  if (kind === 'not_reversible') return { ...origin, kind, amountMinor };
  return { ...origin, kind, amountMinor, sessionId: null };
};

const accept = (id: string, changes: Partial<CardOperation> = {}): AnyMutation => ({
  kind: 'acceptCardFunding',
  tenantId: 'ten_a',
  operation: pendingFunding({ _id: id, amount_minor: amountOf(id), ...changes }),
  claim: null,
  answer: { status: 201, body: id },
});
const applyFact = (id: string, fact: FundingFact): AnyMutation => ({
  kind: 'applyCardFundingFact',
  tenantId: 'ten_a',
  id,
  card: CARD,
  fact,
});
const expire = (id: string): AnyMutation => ({
  kind: 'expireCardFunding',
  tenantId: 'ten_a',
  id,
  card: CARD,
});

/** Few fundings, so that facts meet them in every state: just in time or not, submitted or not, before or after the deadline. */
const anyMutation: fc.Arbitrary<AnyMutation> = fc.constantFrom(...IDS).chain((id) =>
  fc.oneof(
    fc
      .record({ jit: fc.boolean(), submissions: fc.constantFrom(0, 1) })
      .map(({ jit, submissions }) =>
        accept(id, {
          submissions: submissions,
          status: submissions === 0 ? 'pending' : 'processing',
          ...(jit && { type: 'jit_fund', deadline_at: NOW }),
        }),
      ),
    fc
      .record({
        kind: fc.constantFrom<FundingFact['kind']>(
          'succeeded',
          'rejected',
          'reversed',
          'operator_confirmed',
          'not_reversible',
        ),
        via: fc.constantFrom<FundingFact['via']>('webhook', 'poll', 'operator'),
        amount: fc.constantFrom(null, amountOf(id), amountOf(id), 1n, amountOf(id) + 50n),
        isNews: fc.boolean(),
      })
      .map(({ kind, via, amount, isNews }) => {
        const asked = isNews && via === 'poll' ? { askedMs: NOW.getTime() + 1 } : {};
        return applyFact(id, { ...factOf(kind, via, amount), ...asked });
      }),
    fc.constant(expire(id)),
  ),
);

/** The problems that an audit of the ledger finds with a funding. */
function auditOf(
  operation: CardOperation,
  records: Snapshot['records'],
  postings: Snapshot['postings'],
): string[] {
  const own = storedPostings(
    [...postings.values()].filter(({ id }) => id.startsWith(`${operation._id}/`)),
  );
  const end = records.get(cardOperations, fundReversalIdOf(operation._id)) ?? operation;
  return checkFunding({ ...operation, postings: own }, end);
}

function problemsOf({ wallets, records, postings }: Snapshot, sums: Map<string, bigint>): string[] {
  const problems: string[] = [];
  const check = (what: string, fine: boolean) => void (fine || problems.push(what));
  const balance = (account: string) => sums.get(account) ?? 0n;
  const wallet = wallets.get('ten_a');
  const card = records.get(cards, CARD);
  check('wallet', wallet?.availableMinor === START + balance('wallet:ten_a:available'));
  check('wallet below zero', (wallet?.availableMinor ?? -1n) >= 0n);
  check('owed', wallet?.receivableMinor === -balance('receivable:ten_a'));
  check('card', card?.available_minor === balance(`card:${CARD}:available`));
  check('card below zero', (card?.available_minor ?? -1n) >= 0n);
  const operations = records.all(cardOperations);
  const held = operations
    .filter((operation) => isOpen(operation) && operation.type !== 'unload')
    .reduce((sum, { amount_minor: amount }) => sum + (amount ?? 0n), 0n);
  check('held', held === balance('wallet:ten_a:held'));
  const total = [...sums.values()].reduce((sum, amount) => sum + amount, 0n);
  check('all together', total === 0n);
  for (const operation of operations) {
    if (isFunding(operation)) problems.push(...auditOf(operation, records, postings));
    const lent = records.has(cardOperations, fundReversalIdOf(operation._id));
    check('not driven', lent || needsWorkflow(operation) === (operation.next_check_at !== null));
  }
  return problems;
}

test('for any facts in any order, the money of a funding is in one place', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(anyMutation, { maxLength: 4 }), { maxLength: 12 }),
      fc.constantFrom<CardStatus>('active', 'closed'),
      (batches, end) => {
        const first = run(snapshotWith(START, openCard()), batches.slice(0, 6));
        const card = first.state.records.get(cards, CARD);
        // From here on the card may be closed or expired: money that reaches it is unloaded.
        if (card) {
          const spent = end === 'closed' ? { available_minor: card.available_minor } : {};
          first.state.records.set(cards, { ...card, status: end, ...spent });
        }
        const { state } = run(first.state, batches.slice(6));
        const wrong = problemsOf(state, balances(state));
        expect(wrong).toEqual([]);
      },
    ),
    { numRuns: 500 },
  );
});

const paid = factOf('succeeded', 'poll', amountOf('cop_a'));
const reversed = factOf('reversed', 'poll', amountOf('cop_a'));
const notReversible = factOf('not_reversible', 'poll', amountOf('cop_a'));
const refused = factOf('rejected', 'poll', null);
const late = [
  accept('cop_a', { type: 'jit_fund', status: 'processing', submissions: 1, deadline_at: NOW }),
  expire('cop_a'),
];

const after = (mutations: AnyMutation[], available = START, card = openCard()) => {
  const { state, outcomes } = run(
    snapshotWith(available, card),
    mutations.map((mutation) => [mutation]),
  );
  const steps = [...state.postings.keys()].map((id) => id.slice(id.indexOf('/') + 1));
  return {
    operation: state.records.get(cardOperations, 'cop_a'),
    fundReversal: state.records.get(cardOperations, fundReversalIdOf('cop_a')),
    steps,
    outcomes,
    card: state.records.get(cards, CARD),
    available: state.wallets.get('ten_a')?.availableMinor,
  };
};

const verdicts = (outcomes: AnyResult[]) =>
  outcomes.flatMap((outcome) => ('verdict' in outcome ? [outcome.verdict] : []));

describe('a late funding', () => {
  test('a late funding has failed for the tenant, and keeps its hold', () => {
    const { operation, fundReversal, steps } = after(late);
    expect(operation).toMatchObject({ status: 'failed', failure: { code: 'deadline_exceeded' } });
    expect(fundReversal).toMatchObject({
      status: 'processing',
      reverses_operation_id: 'cop_a',
      submissions: 1,
    });
    expect(operation?.next_check_at).toBeNull();
    expect(fundReversal?.next_check_at).not.toBeNull();
    expect(steps).toEqual(['hold']);
  });

  test('a late funding that was never submitted releases its hold at once, without a reversal', () => {
    const unsent = accept('cop_a', { type: 'jit_fund', deadline_at: NOW });
    const { operation, fundReversal, steps, available } = after([unsent, expire('cop_a')]);
    expect(operation?.status).toBe('failed');
    expect(fundReversal).toBeUndefined();
    expect([steps, available]).toEqual([['hold', 'resolve'], START]);
  });

  test('a funding confirmed after its deadline is late even if the expiry was not recorded before', () => {
    const [accepted] = late as [AnyMutation];
    const { operation, fundReversal, steps, outcomes } = after([
      accepted,
      applyFact('cop_a', paid),
    ]);
    expect(operation).toMatchObject({ status: 'failed', failure: { code: 'deadline_exceeded' } });
    expect(fundReversal?.status).toBe('processing');
    expect([steps, verdicts(outcomes)]).toEqual([['hold'], ['stale']]);
  });

  test('a late funding that its issuer reports is known to be there, however often and before or after the expiry', () => {
    const [accepted] = late as [AnyMutation];
    const reports = [
      [accepted, applyFact('cop_a', paid)],
      [...late, applyFact('cop_a', paid)],
      [...late, applyFact('cop_a', paid), applyFact('cop_a', paid)],
    ];
    for (const mutations of reports) {
      const { fundReversal, steps } = after(mutations);
      expect(fundReversal).toMatchObject({ status: 'processing', acknowledged_at: NOW });
      expect(steps).toEqual(['hold']);
    }
    expect(after(late).fundReversal?.acknowledged_at).toBeNull();
  });

  test('an expiry before the deadline of a funding changes nothing', () => {
    const early = accept('cop_a', { type: 'jit_fund', deadline_at: new Date(NOW.getTime() + 1) });
    const { operation, outcomes } = after([early, expire('cop_a'), expire('cop_a')]);
    expect(operation?.status).toBe('pending');
    expect(verdicts(outcomes)).toEqual(['unchanged', 'unchanged']);
  });

  test('a late funding that reached the card keeps its hold until it is reversed', () => {
    expect(after([...late, applyFact('cop_a', paid)]).steps).toEqual(['hold']);
    const { steps, card, available } = after([
      ...late,
      applyFact('cop_a', paid),
      applyFact('cop_a', reversed),
    ]);
    expect([steps, card?.available_minor, available]).toEqual([['hold', 'resolve'], 0n, START]);
  });

  test('a late funding that is not reversible is captured, with attention on both operations; a later reversal returns it', () => {
    const { operation, fundReversal, card } = after([...late, applyFact('cop_a', notReversible)]);
    expect(fundReversal?.status).toBe('completed');
    expect(operation?.status).toBe('failed');
    expect(operation?.attention).not.toBeNull();
    expect(operation?.attention).toEqual(fundReversal?.attention);
    expect(card?.available_minor).toBe(100n);
    const back = after([...late, applyFact('cop_a', notReversible), applyFact('cop_a', reversed)]);
    expect([back.card?.available_minor, back.available]).toEqual([0n, START]);
    expect(back.operation?.attention).toBeNull();
  });

  test('a late funding that appears after its absence was proven goes to suspense for an operator', () => {
    const { fundReversal, steps, card } = after([
      ...late,
      applyFact('cop_a', refused),
      applyFact('cop_a', paid),
    ]);
    expect(steps).toEqual(['hold', 'resolve', 'suspense']);
    expect(fundReversal).toMatchObject({ status: 'failed', in_suspense: true });
    expect(card?.available_minor).toBe(0n);
  });

  test('a late funding found on the card after an operator failed it goes to suspense, whatever the source of the fact', () => {
    const failedByOperator = [...late, applyFact('cop_a', factOf('rejected', 'operator', null))];
    for (const found of [paid, notReversible]) {
      const { fundReversal, steps } = after([...failedByOperator, applyFact('cop_a', found)]);
      expect(steps).toEqual(['hold', 'resolve', 'suspense']);
      expect(fundReversal).toMatchObject({ in_suspense: true, monitor_until: null });
      expect(fundReversal?.attention?.reason).toContain('after the hold had been released');
    }
  });

  test('a callback about a late funding that is already reversed changes nothing', () => {
    const { fundReversal, steps, outcomes } = after([
      ...late,
      applyFact('cop_a', reversed),
      applyFact('cop_a', paid),
      applyFact('cop_a', reversed),
    ]);
    expect(steps).toEqual(['hold', 'resolve']);
    expect(fundReversal).toMatchObject({ status: 'failed', in_suspense: false, attention: null });
    expect(verdicts(outcomes).slice(-2)).toEqual(['stale', 'unchanged']);
  });

  test('a callback about the half of which a reversed one was funded calls no operator', () => {
    const halves = (['succeeded', 'reversed'] as const).map((kind) => factOf(kind, 'webhook', 50n));
    for (const half of halves) {
      const { fundReversal, operation, steps } = after([
        ...late,
        applyFact('cop_a', factOf('reversed', 'poll', null)),
        applyFact('cop_a', half),
      ]);
      expect(steps).toEqual(['hold', 'resolve']);
      expect([fundReversal?.attention, operation?.attention]).toEqual([null, null]);
    }
  });
});

test('the spent part of a reversed funding does not return, and the card does not owe it', () => {
  const taken = [accept('cop_a', { submissions: 1 }), applyFact('cop_a', paid)];
  const { state } = run(snapshotWith(START, openCard()), [taken]);
  const card = state.records.get(cards, CARD);
  state.records.set(cards, openCard({ ...card, available_minor: 30n }));
  const { state: last } = run(state, [[applyFact('cop_a', reversed)]]);
  expect(last.records.get(cards, CARD)?.available_minor).toBe(0n);
  expect(last.wallets.get('ten_a')?.availableMinor).toBe(START - 100n + 30n);
});

test('a reload that the issuer reverses triggers no further reload', () => {
  const reload = reloadOf({ operation_id: 'cop_a', triggered: true });
  const one = accept('cop_a', { type: 'auto_reload', submissions: 1 });
  const { card } = after(
    [one, applyFact('cop_a', paid), applyFact('cop_a', reversed)],
    START,
    openCard({ auto_reload: reload }),
  );
  expect(card?.auto_reload).toMatchObject({ operation_id: null, triggered: true, refusals: 0 });
});
