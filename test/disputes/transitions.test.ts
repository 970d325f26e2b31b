import fc from 'fast-check';
import { charges, leftOf, type Charge } from '../../src/capabilities/charges/charge.js';
import { disputeId, disputes } from '../../src/capabilities/disputes/dispute.js';
import type { DisputeFact } from '../../src/capabilities/disputes/transitions.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import { pageCharge, paid, sent, transition } from '../support/charge-facts.js';
import { balances, run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { byProvider, emptySnapshot } from '../support/transfers.js';

const CASE = 'case_1';
const AMOUNT = 200_000n;
const fact = (changes: Partial<DisputeFact> = {}): DisputeFact => ({
  ...byProvider,
  state: 'open',
  amountMinor: AMOUNT,
  currency: 'NGN',
  funds: 'with_us',
  reason: 'not_recognized',
  dueAt: null,
  ...changes,
});

const paidCharge = (): Charge => transition(sent(pageCharge()), paid({ feeMinor: null })).next;

/** Applies facts to the dispute of a charge, each in a commit of its own. */
function apply(
  facts: readonly DisputeFact[],
  { availableMinor = 300_000n, charge = paidCharge() } = {},
) {
  const snapshot = emptySnapshot();
  snapshot.records.set(charges, charge);
  snapshot.wallets.set('ten_a', { ...emptyWallet('ten_a'), availableMinor });
  const id = disputeId(charge.provider, CASE);
  const items = facts.map((of): AnyMutation[] => [
    {
      kind: 'applyDisputeFact',
      tenantId: 'ten_a',
      id,
      providerDisputeId: CASE,
      charge: charge._id,
      attempt: 1,
      fact: of,
    },
  ]);
  const { state, outcomes, commits } = run(snapshot, items);
  const { availableMinor: available, receivableMinor: owed } = state.wallets.get('ten_a') ?? {};
  return {
    dispute: state.records.get(disputes, id),
    charge: state.records.get(charges, charge._id),
    wallet: { available, owed },
    accounts: balances(state),
    verdicts: outcomes.map((outcome) => ('verdict' in outcome ? outcome.verdict : null)),
    events: commits.flatMap(({ events }) => events.map(({ name }) => name)),
  };
}

describe('a dispute', () => {
  test('takes its amount from the wallet, and gives it back when it is won', () => {
    const opened = apply([fact()]);
    expect(opened.wallet).toEqual({ available: 100_000n, owed: 0n });
    expect(opened.accounts.get('disputes:sandbox-bank')).toBe(AMOUNT);
    expect(opened.charge && leftOf(opened.charge)).toBe(100_000n);
    const won = apply([fact(), fact({ state: 'won' })]);
    expect(won.wallet).toEqual({ available: 300_000n, owed: 0n });
    expect(won.accounts.get('disputes:sandbox-bank')).toBe(0n);
    expect(won.charge?.disputed_minor).toBe(0n);
    expect(won.events).toEqual(['charge.disputed', 'charge.dispute_won']);
  });

  test('goes to clearing when it is lost, and at once if the provider takes the amount at once', () => {
    for (const facts of [
      [fact(), fact({ state: 'lost' })],
      [fact({ funds: 'taken' }), fact({ state: 'lost', funds: 'taken' })],
      [fact(), fact({ funds: 'taken' }), fact({ state: 'lost' })],
      [fact({ state: 'lost' })],
    ]) {
      const lost = apply(facts);
      expect(lost.wallet).toEqual({ available: 100_000n, owed: 0n });
      expect(lost.accounts.get('disputes:sandbox-bank') ?? 0n).toBe(0n);
      expect(lost.accounts.get('clearing:sandbox-bank')).toBe(AMOUNT);
      expect(lost.events).toEqual(['charge.disputed', 'charge.dispute_lost']);
    }
  });

  test('becomes a receivable as far as the wallet cannot cover it, which is paid first when it is won', () => {
    const short = apply([fact()], { availableMinor: 50_000n });
    expect(short.wallet).toEqual({ available: 0n, owed: 150_000n });
    expect(short.dispute?.attention?.reason).toContain('owes');
    const won = apply([fact(), fact({ state: 'won' })], { availableMinor: 50_000n });
    expect(won.wallet).toEqual({ available: 50_000n, owed: 0n });
    expect(won.dispute?.attention).toBeNull();
  });

  test('beyond what is left of the charge is booked all the same, with attention', () => {
    const refunded = { ...paidCharge(), refunded_minor: 200_000n };
    const over = apply([fact()], { charge: refunded });
    expect(over.dispute?.attention?.reason).toContain('more is disputed and refunded');
    expect(over.wallet.available).toBe(100_000n);
    expect(over.charge && leftOf(over.charge)).toBe(0n);
  });

  test('of a payment that is not booked, in another currency or of another attempt waits for an operator', () => {
    for (const [facts, charge] of [
      [[fact()], sent(pageCharge())],
      [[fact({ currency: 'USD' })], paidCharge()],
      [[fact()], { ...paidCharge(), attempt: 2 }],
    ] as const) {
      const { verdicts, dispute } = apply(facts, { charge });
      expect([verdicts, dispute]).toEqual([['not_booked'], undefined]);
    }
  });

  test('with another amount, or lost after it was won, moves no money and raises attention once', () => {
    for (const contradiction of [fact({ amountMinor: 1n }), fact({ state: 'lost' })]) {
      const facts = [fact(), fact({ state: 'won' }), contradiction, contradiction];
      const { verdicts, wallet, dispute } = apply(facts);
      expect(verdicts).toEqual(['applied', 'applied', 'attention', 'unchanged']);
      expect([wallet.available, dispute?.status]).toEqual([300_000n, 'won']);
    }
  });
});

describe('in any order and any number', () => {
  const funds = fc.constantFrom('with_us' as const, 'taken' as const);
  const open = funds.map((each) => fact({ funds: each }));

  test.each(['won', 'lost'] as const)(
    'reports of a dispute that is %s end alike: one state, the same balances, one event each',
    (end) => {
      const final = funds.map((each) => fact({ state: end, funds: each }));
      const reports = fc
        .tuple(fc.array(fc.oneof(open, final), { maxLength: 8 }), final, fc.nat())
        .map(([others, one, at]) => others.toSpliced(at % (others.length + 1), 0, one));
      fc.assert(
        fc.property(reports, fc.constantFrom(0n, 50_000n, 300_000n), (facts, availableMinor) => {
          const { dispute, charge, wallet, accounts, events } = apply(facts, { availableMinor });
          expect(dispute?.status).toBe(end);
          expect(charge?.disputed_minor).toBe(end === 'won' ? 0n : AMOUNT);
          const net = (wallet.available ?? 0n) - (wallet.owed ?? 0n);
          expect(net).toBe(end === 'won' ? availableMinor : availableMinor - AMOUNT);
          expect(accounts.get('disputes:sandbox-bank') ?? 0n).toBe(0n);
          expect(accounts.get('clearing:sandbox-bank') ?? 0n).toBe(end === 'won' ? 0n : AMOUNT);
          expect(events).toEqual(['charge.disputed', `charge.dispute_${end}`]);
        }),
      );
    },
  );
});
