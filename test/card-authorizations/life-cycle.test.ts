import fc from 'fast-check';
import {
  cardAuthorizations,
  isApproved,
  type AuthorizationMessage,
} from '../../src/capabilities/card-authorizations/record.js';
import { cards } from '../../src/capabilities/cards/record.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import {
  authorizationFactMutation,
  decideAuthorizationMutation,
  standInMutation,
  stateWith,
} from '../support/authorizations.js';
import { openCard } from '../support/card-record.js';
import { balances, run } from '../support/decisions.js';
import { checkBooks } from '../support/one-payment.js';
import type { AnyMutation } from '../support/mutations.js';
import { NOW } from '../support/transfers.js';

const CARD_MINOR = 10_000n;
const WALLET_MINOR = 4_000n;
const RICH_MINOR = 1_000_000n;
const amount = fc.constantFrom(500n, 2_000n, 5_000n, 12_000n);
const kind = fc.constantFrom('authorization' as const, 'increment' as const, 'financial' as const);

/** A report of the network about one payment. Without other times, its place in the list is its time. */
type Report =
  | { kind: 'stand-in' | 'refunded' | 'reversed' | 'corrected'; minor: bigint }
  | { kind: 'cleared'; minor: bigint; partial: boolean; forced: boolean }
  | { kind: 'whole reversal' | 'expired' }
  /** About a request: its decline, its approval in our place, or the issuer's clearing of it. */
  | { kind: 'declined' | 'advice' | 'taken'; of: number; minor: bigint };

const report: fc.Arbitrary<Report> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('stand-in' as const, 'refunded' as const, 'reversed' as const),
    minor: amount,
  }),
  fc.record({ kind: fc.constant('corrected' as const), minor: fc.constantFrom(-700n, 300n) }),
  fc.record({
    kind: fc.constant('cleared' as const),
    minor: amount,
    partial: fc.boolean(),
    forced: fc.boolean(),
  }),
  fc.record({ kind: fc.constantFrom('whole reversal' as const, 'expired' as const) }),
  {
    // Several reports about one request are rare otherwise.
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('declined' as const, 'advice' as const, 'taken' as const),
      of: fc.nat({ max: 3 }),
      minor: amount,
    }),
  },
);

function mutationOf(one: Report, i: number, at = i + 10): AnyMutation {
  const key = `report-${i}`;
  switch (one.kind) {
    case 'stand-in':
      return standInMutation(one.minor, { message: `stand-in-${i}`, at });
    case 'whole reversal':
      return authorizationFactMutation('reversed', { at, key });
    case 'expired':
      return authorizationFactMutation('expired', { at, key });
    case 'cleared':
      return authorizationFactMutation('cleared', { at, key, ...one });
    case 'declined':
      return authorizationFactMutation('declined', { at, key, message: `m${one.of}` });
    case 'advice':
      return standInMutation(one.minor, { message: `m${one.of}`, at });
    case 'taken':
      return authorizationFactMutation('cleared', {
        at,
        key: `cleared-m${one.of}`,
        minor: one.minor,
        partial: true,
      });
    default:
      return authorizationFactMutation(one.kind, { at, key, minor: one.minor });
  }
}

type Model = { held: bigint; taken: bigint; refunded: bigint };

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const most = (a: bigint, b: bigint) => (a > b ? a : b);

type AboutRequest = Extract<Report, { of: number }>;

const reportOn = (reports: readonly Report[], kind: AboutRequest['kind'], id: string) =>
  reports.find(
    (one): one is AboutRequest => one.kind === kind && 'of' in one && id === `m${one.of}`,
  );

/** True if a decline voids this request, and nobody approved it in our place. */
const isEnded = (reports: readonly Report[], id: string) =>
  reportOn(reports, 'declined', id) !== undefined && !reportOn(reports, 'advice', id);

const isFinancial = (messages: readonly AuthorizationMessage[], of: number) =>
  messages.some(({ message_id: id, kind, approved }) => {
    return id === `m${of}` && kind === 'financial' && approved;
  });

/** The reports without those that only say the amount of our own clearings. */
const withoutOwn = (messages: readonly AuthorizationMessage[], reports: readonly Report[]) =>
  reports.filter(
    (one) =>
      one.kind !== 'taken' || isEnded(reports, `m${one.of}`) || !isFinancial(messages, one.of),
  );

/**
 * The part of the model that the approvals make: a financial one is taken at once, with the amount that the issuer reports,
 * or that of the approval in our place if ours is declined.
 */
function approvedModel(messages: readonly AuthorizationMessage[], reports: readonly Report[]) {
  return messages
    .filter(({ approved, message_id: id }) => approved && !isEnded(reports, id))
    .reduce<Model>(
      ({ held, taken, refunded }, { kind: of, amount_minor: own, message_id: id }) => {
        if (of !== 'financial') return { held: held + own, taken, refunded };
        const counted = reportOn(reports, 'declined', id) && reportOn(reports, 'advice', id);
        const minor = (reportOn(reports, 'taken', id) ?? counted)?.minor ?? own;
        return { held, taken: taken + minor, refunded };
      },
      { held: 0n, taken: 0n, refunded: 0n },
    );
}

/** Only the first report of one kind about one request counts: the others have its id. */
const withoutRepeats = (reports: readonly Report[]) =>
  reports.filter(
    (one, i) =>
      !('of' in one) ||
      reports.findIndex((each) => each.kind === one.kind && 'of' in each && each.of === one.of) ===
        i,
  );

type Timed = { one: Report; i: number; at: number };

/** The order of reports with the same time, by kind. */
const KINDS: readonly Report['kind'][][] = [
  ['stand-in', 'advice'],
  ['declined'],
  ['cleared', 'taken'],
  ['reversed', 'whole reversal'],
  ['expired'],
  ['refunded'],
  ['corrected'],
];
const rankOf = ({ kind: of }: Report) => KINDS.findIndex((kinds) => kinds.includes(of));

/** The reports in the order in which they happened: at the same time by kind, and then by their ids. */
const inOrderOf = (timed: readonly Timed[]): Timed[] =>
  timed.toSorted((a, b) => a.at - b.at || rankOf(a.one) - rankOf(b.one) || a.i - b.i);

/** One report after the other, in the order in which they happened. */
function modelOf(start: Model, reports: readonly Report[]): Model {
  return reports.reduce<Model>(({ held, taken, refunded }, one) => {
    switch (one.kind) {
      case 'taken':
        return { held: most(held - one.minor, 0n), taken: taken + one.minor, refunded };
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
        return { held: held + one.minor, taken, refunded };
      case 'advice':
      case 'declined':
        return { held, taken, refunded };
    }
  }, start);
}

const cardIn = (state: Snapshot) => {
  const card = state.records.get(cards, 'crd_a');
  if (!card) throw new Error('there is no card');
  return card;
};

const endOf = (state: Snapshot) => {
  const [one] = state.records.all(cardAuthorizations);
  const books = balances(state);
  const wallet = state.wallets.get('ten_a');
  const owes = one?.card_owes_minor ?? 0n;
  return {
    // Without what one of them has paid in place of the other.
    card: cardIn(state).available_minor - owes,
    wallet: (wallet?.availableMinor ?? 0n) - (wallet?.receivableMinor ?? 0n) + owes,
    payments: one?.payments,
    held: one?.held_minor,
    taken: one?.cleared_minor,
    refunded: one?.refunded_minor,
    status: one?.status,
    network: books.get('network:sandbox-bank') ?? 0n,
    holds: cardIn(state).open_holds,
  };
};

const owedIn = (state: Snapshot) => state.wallets.get('ten_a')?.receivableMinor ?? 0n;

/** One mutation after the other. The tenant owes more only where the card has nothing left. */
const runEach = (start: Snapshot, mutations: readonly AnyMutation[]): Snapshot =>
  mutations.reduce((state, mutation) => {
    const next = run(state, [[mutation]]).state;
    if (owedIn(next) > owedIn(state)) expect(cardIn(next).available_minor).toBe(0n);
    return next;
  }, start);

/** True if an operator is called for what the network has taken, and not only for what the tenant owes meanwhile. */
const isCalledForNetwork = (state: Snapshot): boolean =>
  state.records
    .all(cardAuthorizations)
    .some(({ timeline }) =>
      timeline.some(
        ({ type, detail }) => type === 'attention_raised' && !detail?.includes('owes the rest'),
      ),
    );

/** True if no later report changes what these reports mean. */
const arePlain = (reports: readonly Report[]) => reports.every((one) => !('of' in one));

/** A request about the payment, at its place in the sequence. What it says beside its amount moves no money. */
const request = (minor: bigint, i: number, more: object = {}) =>
  decideAuthorizationMutation({
    messageId: `m${i}`,
    amountMinor: minor,
    cashMinor: minor / 2n,
    merchantAmount: { amountMinor: minor * 9n, currency: 'GHS' },
    initiator: 'merchant',
    holdUntil: new Date(NOW.getTime() - i),
    requestedAt: new Date(NOW.getTime() + i),
    ...more,
  });

test('the end of a payment depends on its facts, whose times may be equal, and on neither their order of arrival nor repeats', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ minor: amount, kind }), { maxLength: 3 }),
      fc.array(report, { maxLength: 6 }),
      fc.array(fc.nat({ max: 1 }), { minLength: 6, maxLength: 6 }),
      fc.record({
        funding: fc.constantFrom('prepaid' as const, 'jit' as const),
        minor: amount,
        walletMinor: fc.constantFrom(WALLET_MINOR, RICH_MINOR),
      }),
      fc.infiniteStream(fc.nat()),
      (amounts, reports, pauses, { funding, minor: cardMinor, walletMinor }, random) => {
        const card = openCard({ available_minor: cardMinor, funding });
        const start = stateWith(card, walletMinor);
        const asked = run(
          start,
          amounts.map(({ minor, kind: of }, i) => [request(minor, i, { kind: of })]),
        ).state;
        const messages = asked.records.all(cardAuthorizations)[0]?.messages ?? [];
        // The hold of a stand-in is as much as there is when it arrives. A financial request is taken without one, but what it
        // held of a wallet may be held on the card after its decline.
        const plain = withoutRepeats(reports).filter(
          (one) =>
            (one.kind !== 'stand-in' || (funding === 'jit' && walletMinor === RICH_MINOR)) &&
            (one.kind !== 'advice' || (funding === 'prepaid' && isFinancial(messages, one.of))),
        );
        const approved = approvedModel(messages, plain);
        // A pause of zero: the report has the time of the one before it.
        const timed = plain.map((one, i) => {
          const at = pauses.slice(0, i + 1).reduce((sum, pause) => sum + pause, 10);
          return { one, i, at };
        });
        const inOrder = inOrderOf(timed).map(({ one, i, at }) => mutationOf(one, i, at));
        const shuffled = [...inOrder, ...inOrder.slice(0, 2)]
          .map((mutation) => ({ mutation, rank: random.next().value as number }))
          .toSorted((a, b) => a.rank - b.rank)
          .map(({ mutation }) => mutation);
        const one = runEach(asked, inOrder);
        const other = runEach(asked, shuffled);
        checkBooks(one);
        checkBooks(other);
        expect(endOf(other)).toEqual(endOf(one));
        if (arePlain(plain) && isCalledForNetwork(one)) {
          expect(other.records.all(cardAuthorizations)[0]?.attention).not.toBeNull();
        }
        const happened = inOrderOf(timed).map((each) => each.one);
        const { held, taken, refunded } = modelOf(approved, withoutOwn(messages, happened));
        if (one.records.all(cardAuthorizations).length === 0) return;
        const known = endOf(one);
        // A payment that nobody approved has nothing to reverse, until money has moved.
        if (approved.held + approved.taken > 0n)
          expect(known).toMatchObject({ held, taken, refunded });
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
      kind,
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
          state = runEach(state, [mutationOf(one, i)]);
          checkBooks(state);
          continue;
        }
        const holdMinor = one.hold ? one.minor + 100n : null;
        const { kind: of, partialApproval } = one;
        state = run(state, [
          [request(one.minor, i, { kind: of, partialApproval, holdMinor })],
        ]).state;
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
