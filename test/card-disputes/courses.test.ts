import fc from 'fast-check';
import {
  cardAuthorizations,
  OVER_RETURNED,
} from '../../src/capabilities/card-authorizations/record.js';
import type { CardDisputeFact } from '../../src/capabilities/card-disputes/facts.js';
import { cardDisputes } from '../../src/capabilities/card-disputes/record.js';
import { accounts } from '../../src/core/ledger/posting.js';
import { authorizationFactMutation, keyOf } from '../support/authorizations.js';
import { CARD } from '../support/card-record.js';
import {
  CARD_HAD,
  CLEARED,
  dispute,
  disputed,
  reports,
  said,
  seen,
  WALLET_HAD,
} from '../support/card-disputes.js';
import { run } from '../support/decisions.js';

/** The first dispute is of this part of the payment, the second one of the rest. */
const FIRST = 4_000n;
const AMOUNTS = [FIRST, CLEARED - FIRST] as const;

/** A report about one of the two disputes, or about the payment itself. */
type Step = { key: string; minor: bigint; at: number } & (
  | { of: 0 | 1; kind: CardDisputeFact['kind'] }
  | { of: 'payment'; kind: 'refunded' | 'refund_reversed' }
);

const about = {
  minor: fc.constantFrom(1n, 2_000n, 2_500n, 4_000n, 6_000n),
  at: fc.integer({ min: 2, max: 5 }),
};
const steps: fc.Arbitrary<Step[]> = fc
  .array(
    fc.oneof(
      fc.record({
        of: fc.constantFrom(0 as const, 1 as const),
        kind: fc.constantFrom(
          ...([
            'submitted',
            'refused',
            'credited',
            'credit_reversed',
            'won',
            'lost',
            'withdrawn',
          ] as const),
        ),
        ...about,
      }),
      fc.record({
        of: fc.constant('payment' as const),
        kind: fc.constantFrom('refunded' as const, 'refund_reversed' as const),
        ...about,
      }),
    ),
    { maxLength: 9 },
  )
  .map((all) => all.map((step, i) => ({ ...step, key: `${step.kind}-${i}` })));

/** Each step at least once, in any order. */
const repeated = steps.chain((all) =>
  fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: 2 * all.length })),
);

const RANK = ['withdrawn', 'won', 'lost', 'refunded', 'refund_reversed'];
const later = (a: Step, b: Step) =>
  a.at - b.at || RANK.indexOf(a.kind) - RANK.indexOf(b.kind) || (a.key < b.key ? -1 : 1);

/** A dispute by a model of its own: the latest decision, or what was given and not taken back. */
function disputeOf(all: readonly Step[], number: 0 | 1) {
  const own = all.filter(({ of }) => of === number);
  const amount = AMOUNTS[number];
  const last = own
    .filter(({ kind }) => kind === 'withdrawn' || kind === 'won' || kind === 'lost')
    .toSorted(later)
    .at(-1);
  if (last?.kind === 'won') {
    return { status: 'won', credited: last.minor, disputed: amount, returnable: last.minor };
  }
  if (last?.kind === 'lost')
    return { status: 'lost', credited: 0n, disputed: amount, returnable: 0n };
  const over = { credited: 0n, disputed: 0n, returnable: 0n };
  if (last) return { status: 'cancelled', ...over };
  const isRefused = own.length > 0 && own.every(({ kind }) => kind === 'refused');
  if (isRefused) return { status: 'failed', ...over };
  let credited = 0n;
  for (const { kind, minor } of own) {
    if (kind === 'credited') credited += minor;
    if (kind === 'credit_reversed') credited -= minor;
  }
  if (credited < 0n) credited = 0n;
  const returnable = credited > amount ? credited : amount;
  return { status: own.length === 0 ? 'pending' : 'open', credited, disputed: amount, returnable };
}

/** The refunds that the merchant has not taken back. */
function refundedBy(all: readonly Step[]): bigint {
  let refunded = 0n;
  for (const { kind, minor } of all.filter(({ of }) => of === 'payment').toSorted(later)) {
    if (kind === 'refunded') refunded += minor;
    else refunded -= minor > refunded ? refunded : minor;
  }
  return refunded;
}

/** The payment by the model. `excess`: returned, or still to be returned by the issuer, beyond what was taken. */
function paymentOf(all: readonly Step[]) {
  const both = [disputeOf(all, 0), disputeOf(all, 1)] as const;
  const sum = (of: 'credited' | 'disputed' | 'returnable') => both[0][of] + both[1][of];
  const refunded = refundedBy(all);
  const returnable = sum('returnable');
  const excess = refunded + returnable - CLEARED;
  return {
    both,
    refunded,
    credited: sum('credited'),
    disputed: sum('disputed'),
    returnable,
    excess: returnable > 0n && excess > 0n ? excess : 0n,
  };
}

/** How often more is returned or returnable than before, beyond what was taken, while the steps arrive in this order. */
function calls(sequence: readonly Step[]): number {
  const arrived = sequence.filter(
    ({ key }, i) => sequence.findIndex((each) => each.key === key) === i,
  );
  const excesses = [0, ...arrived.map((_, i) => i + 1)].map(
    (count) => paymentOf(arrived.slice(0, count)).excess,
  );
  return excesses.filter((excess, i) => excess > (excesses[i - 1] ?? 0n)).length;
}

test('two disputes and the refunds of a payment end as their facts say, whatever the order and repetition, and no money appears or is lost', () => {
  fc.assert(
    fc.property(repeated, ([all, sequence]) => {
      const first = disputed(FIRST);
      const second = dispute(first.state, null);
      const ids = [first.id, second.id] as const;
      const { state } = run(
        second.state,
        sequence.map((step) => {
          const { key, kind, minor, at } = step;
          if (step.of !== 'payment')
            return [reports(ids[step.of], said(step.kind, { key, minor, at }))];
          return [authorizationFactMutation(kind as 'refunded', { key, minor, at })];
        }),
      );
      const expected = paymentOf(all);
      for (const number of [0, 1] as const) {
        const { status, credited } = expected.both[number];
        expect(seen(state, ids[number])).toMatchObject({ status, credited });
        const code = state.records.get(cardDisputes, ids[number])?.failure?.code ?? null;
        expect(code).toBe(status === 'failed' ? 'dispute_refused' : null);
      }
      const paid = state.records.get(cardAuthorizations, keyOf('auth_1').id);
      expect(paid).toMatchObject({
        cleared_minor: CLEARED,
        refunded_minor: expected.refunded,
        disputed_minor: expected.disputed,
        returnable_minor: expected.returnable,
      });
      expect(paid?.credited_minor ?? 0n).toBe(expected.credited);
      // The payers have what they had, less the payment, and with all that was returned.
      const end = seen(state, ids[0]);
      const returned = expected.refunded + expected.credited;
      expect(end.card + end.available - end.owed).toBe(CARD_HAD + WALLET_HAD - CLEARED + returned);
      expect(end.network).toBe(CLEARED - returned);
      expect(end.books.get(accounts.cardAvailable(CARD)) ?? 0n).toBe(end.card);
      expect(end.books.get(accounts.available('ten_a')) ?? 0n).toBe(end.available);
      expect(end.books.get(accounts.receivable('ten_a')) ?? 0n).toBe(-end.owed);
      expect([...end.books.values()].reduce((sum, each) => sum + each, 0n)).toBe(0n);
      const raised = paid?.timeline.filter(({ detail }) => detail === OVER_RETURNED);
      expect(raised).toHaveLength(calls(sequence));
    }),
    { numRuns: 300 },
  );
});
