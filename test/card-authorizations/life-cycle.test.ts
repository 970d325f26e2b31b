import fc from 'fast-check';
import {
  cardAuthorizations,
  isApproved,
} from '../../src/capabilities/card-authorizations/card-authorization.js';
import { cards } from '../../src/capabilities/cards/card.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import {
  authorizationFactMutation,
  decideAuthorizationMutation,
  standInMutation,
  stateWith,
} from '../support/authorizations.js';
import { openCard } from '../support/card-record.js';
import { balances, run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { NOW } from '../support/transfers.js';

const CARD_MINOR = 10_000n;
const WALLET_MINOR = 4_000n;
const amount = fc.constantFrom(500n, 2_000n, 5_000n, 12_000n);

/** A report of the network about one payment. Its place in the list is its time. */
type Report =
  | { kind: 'stand-in' | 'refunded' | 'reversed' | 'corrected'; minor: bigint }
  | { kind: 'cleared'; minor: bigint; partial: boolean }
  | { kind: 'whole reversal' | 'expired' };

const report: fc.Arbitrary<Report> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('stand-in' as const, 'refunded' as const, 'reversed' as const),
    minor: amount,
  }),
  fc.record({ kind: fc.constant('corrected' as const), minor: fc.constantFrom(-700n, 300n) }),
  fc.record({ kind: fc.constant('cleared' as const), minor: amount, partial: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('whole reversal' as const, 'expired' as const) }),
);

function mutationOf(one: Report, i: number): AnyMutation {
  const [at, key] = [i + 10, `report-${i}`];
  switch (one.kind) {
    case 'stand-in':
      return standInMutation(one.minor, { message: `stand-in-${i}`, at });
    case 'whole reversal':
      return authorizationFactMutation('reversed', { at, key });
    case 'expired':
      return authorizationFactMutation('expired', { at, key });
    case 'cleared':
      return authorizationFactMutation('cleared', { at, key, ...one });
    default:
      return authorizationFactMutation(one.kind, { at, key, minor: one.minor });
  }
}

type Model = { held: bigint; taken: bigint; refunded: bigint };

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const most = (a: bigint, b: bigint) => (a > b ? a : b);

/** One report after the other, in the order in which they happened. Stand-ins are left out of the model of holds. */
function modelOf(heldMinor: bigint, reports: readonly Report[]): Model {
  return reports.reduce<Model>(
    ({ held, taken, refunded }, one) => {
      switch (one.kind) {
        case 'cleared':
          return {
            held: one.partial ? most(held - one.minor, 0n) : 0n,
            taken: taken + one.minor,
            refunded,
          };
        case 'reversed': {
          const fromHold = least(held, one.minor);
          const back = least(one.minor - fromHold, most(taken - refunded, 0n));
          return { held: held - fromHold, taken: taken - back, refunded };
        }
        case 'whole reversal':
          return { held: 0n, taken: least(taken, refunded), refunded };
        case 'expired':
          return { held: 0n, taken, refunded };
        case 'refunded':
          return { held, taken, refunded: refunded + one.minor };
        case 'corrected':
          return { held, taken: most(taken + one.minor, 0n), refunded };
        case 'stand-in':
          return { held, taken, refunded };
      }
    },
    { held: heldMinor, taken: 0n, refunded: 0n },
  );
}

const cardIn = (state: Snapshot) => {
  const card = state.records.get(cards, 'crd_a');
  if (!card) throw new Error('there is no card');
  return card;
};

/** Money is where the postings say, nothing is below zero, and nothing appears or vanishes. */
function checkBooks(state: Snapshot): void {
  const books = balances(state);
  const of = (account: string) => books.get(account) ?? 0n;
  const card = cardIn(state);
  const wallet = state.wallets.get('ten_a');
  expect(card.available_minor).toBe(of('card:crd_a:available'));
  expect(card.held_minor).toBe(of('card:crd_a:held'));
  expect(wallet?.availableMinor).toBe(of('wallet:ten_a:available'));
  expect(card.available_minor >= 0n && (wallet?.availableMinor ?? -1n) >= 0n).toBe(true);
  expect([...books.values()].reduce((sum, each) => sum + each, 0n)).toBe(0n);
}

const endOf = (state: Snapshot) => {
  const [one] = state.records.all(cardAuthorizations);
  const books = balances(state);
  return {
    held: one?.held_minor,
    taken: one?.cleared_minor,
    refunded: one?.refunded_minor,
    status: one?.status,
    network: books.get('network:sandbox-bank') ?? 0n,
    holds: cardIn(state).open_holds,
  };
};

/** A request about the payment, at its place in the sequence. */
const request = (minor: bigint, i: number, more: object = {}) =>
  decideAuthorizationMutation({
    messageId: `m${i}`,
    amountMinor: minor,
    requestedAt: new Date(NOW.getTime() + i),
    ...more,
  });

test('the end of a payment depends on its facts, and on neither their order of arrival nor repeats', () => {
  fc.assert(
    fc.property(
      fc.array(amount, { maxLength: 3 }),
      fc.array(report, { maxLength: 6 }),
      fc.infiniteStream(fc.nat()),
      (amounts, reports, random) => {
        const plain = reports.filter(({ kind }) => kind !== 'stand-in');
        const start = stateWith(openCard({ available_minor: CARD_MINOR }), WALLET_MINOR);
        const asked = run(
          start,
          amounts.map((minor, i) => [request(minor, i)]),
        ).state;
        const approved = asked.records.all(cardAuthorizations)[0]?.held_minor ?? 0n;
        const inOrder = plain.map(mutationOf);
        const shuffled = [...inOrder, ...inOrder.slice(0, 2)]
          .map((mutation) => ({ mutation, rank: random.next().value as number }))
          .toSorted((a, b) => a.rank - b.rank)
          .map(({ mutation }) => [mutation]);
        const one = run(
          asked,
          inOrder.map((mutation) => [mutation]),
        ).state;
        const other = run(asked, shuffled).state;
        checkBooks(one);
        checkBooks(other);
        expect(endOf(other)).toEqual(endOf(one));
        const { held, taken, refunded } = modelOf(approved, plain);
        if (one.records.all(cardAuthorizations).length === 0) return;
        const known = endOf(one);
        // A payment that nobody approved has nothing to reverse, until money has moved.
        if (approved > 0n) expect(known).toMatchObject({ held, taken, refunded });
        expect(known.network).toBe((known.taken ?? 0n) - (known.refunded ?? 0n));
      },
    ),
    { numRuns: 500 },
  );
});

test('nobody spends what is not there, whatever is asked and reported in whatever order', () => {
  const step = fc.oneof(
    fc.record({
      minor: amount,
      kind: fc.constantFrom('authorization' as const, 'increment' as const, 'financial' as const),
      partialApproval: fc.boolean(),
      hold: fc.boolean(),
    }),
    report,
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.boolean(), (steps, jit) => {
      const funding = jit ? ('jit' as const) : ('prepaid' as const);
      let state = stateWith(openCard({ available_minor: CARD_MINOR, funding }), WALLET_MINOR);
      for (const [i, one] of steps.entries()) {
        const before = cardIn(state).available_minor;
        const inWallet = jit ? (state.wallets.get('ten_a')?.availableMinor ?? 0n) : 0n;
        if (!('partialApproval' in one)) {
          state = run(state, [[mutationOf(one, i)]]).state;
          checkBooks(state);
          continue;
        }
        const holdMinor = one.hold ? one.minor + 100n : null;
        const { kind, partialApproval } = one;
        state = run(state, [[request(one.minor, i, { kind, partialApproval, holdMinor })]]).state;
        checkBooks(state);
        const [payment] = state.records.all(cardAuthorizations);
        const message = payment?.messages.find(({ message_id: id }) => id === `m${i}`);
        if (!payment || !message?.approved) continue;
        const most_ = before > inWallet ? before : inWallet;
        expect(message.amount_minor <= most_).toBe(true);
        expect(message.amount_minor === one.minor || partialApproval).toBe(true);
        expect(isApproved(payment, `m${i}`)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
