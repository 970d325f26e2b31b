import fc from 'fast-check';
import { leftOf } from '../../src/capabilities/charges/record.js';
import { pageCharge, sent } from '../support/charge-facts.js';
import { NOW } from '../support/transfers.js';
import { AMOUNT, apply, fact, paidCharge } from './facts.js';

describe('a dispute', () => {
  const soon = { dueAt: new Date(NOW.getTime() + 60_000) };
  const later = { dueAt: new Date(NOW.getTime() + 7 * 86_400_000) };

  test.each([
    ['it is due within a day', soon],
    ['its provider reminds of it', { ...later, reminds: true }],
  ])('calls an operator once if %s, until it is decided', (_what, reminder) => {
    const known = apply([fact(later), fact(reminder), fact(reminder)]);
    expect(known.dispute?.attention?.reason).toMatch(/nobody answers it/);
    expect(known.verdicts).toEqual(['applied', 'attention', 'unchanged']);
    expect(known.events).toEqual(['charge.disputed']);
    expect(apply([fact(reminder)]).dispute?.attention?.reason).toMatch(/nobody answers it/);
    for (const state of ['won', 'lost'] as const) {
      const decided = apply([fact(reminder), fact({ ...reminder, state })]);
      expect(decided.dispute).toMatchObject({ status: state, attention: null });
    }
  });

  test('calls nobody if it is due later, or if it is decided already', () => {
    expect(apply([fact(later), fact(later)]).dispute?.attention).toBeNull();
    const decided = apply([fact({ state: 'won' }), fact({ ...soon, reminds: true })]);
    expect(decided.dispute?.attention).toBeNull();
  });

  test('calls nobody after its time, and ends the call once no answer is awaited', () => {
    const over = { dueAt: new Date(NOW.getTime() - 1) };
    for (const reminds of [false, true]) {
      expect(apply([fact(later), fact({ ...over, reminds })]).dispute?.attention).toBeNull();
    }
    for (const answered of [fact(), fact(over)]) {
      const { dispute, verdicts } = apply([fact(soon), answered, answered]);
      expect(dispute).toMatchObject({ status: 'open', attention: null });
      expect(verdicts).toEqual(['attention', 'applied', 'unchanged']);
    }
    const reminded = apply([fact({ ...later, reminds: true }), fact(later)]);
    expect(reminded.dispute?.attention?.reason).toMatch(/nobody answers it/);
  });

  test('calls an operator beside any other reason, and keeps the other one when it is answered', () => {
    const short = { availableMinor: 50_000n };
    const both = /owes the rest; .*nobody answers it/;
    for (const facts of [[fact(soon)], [fact(later), fact(soon)]]) {
      expect(apply(facts, short).dispute?.attention?.reason).toMatch(both);
    }
    const answered = apply([fact(soon), fact()], short);
    expect(answered.dispute?.attention?.reason).toMatch(/owes the rest$/);
    const won = apply([fact(soon), fact({ state: 'won' })], short);
    expect(won.dispute?.attention).toBeNull();
  });

  test('calls an operator also by the report that its amount is taken', () => {
    const { dispute, accounts, verdicts } = apply([fact(), fact({ ...soon, funds: 'taken' })]);
    expect(dispute).toMatchObject({
      funds: 'taken',
      attention: { reason: expect.stringContaining('nobody answers it') },
    });
    expect(verdicts).toEqual(['applied', 'attention']);
    expect(accounts.get('clearing:sandbox-bank')).toBe(AMOUNT);
  });

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

  test('of the payment with its surcharge is within what the provider may take', () => {
    const charge = { ...paidCharge(), surcharge_minor: 10_000n };
    const paidInAll = charge.amount_minor + 10_000n;
    const reasonFor = (amountMinor: bigint) =>
      apply([fact({ amountMinor })], { charge, availableMinor: 500_000n }).dispute?.attention;
    expect(reasonFor(paidInAll)).toBeNull();
    expect(reasonFor(paidInAll + 1n)?.reason).toContain('more is disputed and refunded');
  });

  describe('whose claim was declined although the charge is reversed', () => {
    const declined = fact({ state: 'lost', byReversal: true });
    const DECIDE = /taken the whole charge back: decide the dispute$/;
    const PAID = paidCharge().amount_minor;
    const refunded = { charge: { ...paidCharge(), refunded_minor: PAID } };

    test('is lost if refunds do not explain the reversal', () => {
      for (const refundedMinor of [0n, PAID - 1n]) {
        const charge = { ...paidCharge(), refunded_minor: refundedMinor };
        expect(apply([fact(), declined], { charge }).dispute?.status).toBe('lost');
      }
    });

    test('stays open with attention, once, if refunds alone explain it, and an operator decides it', () => {
      const underWay = { charge: { ...paidCharge(), refund_pending_minor: PAID } };
      for (const around of [refunded, underWay]) {
        for (const facts of [
          [fact(), declined, declined],
          [declined, declined],
        ]) {
          const { dispute, verdicts, wallet, accounts } = apply(facts, around);
          expect(dispute?.status).toBe('open');
          expect(dispute?.attention?.reason).toMatch(DECIDE);
          expect(verdicts.slice(-2)).toEqual(['attention', 'unchanged']);
          expect(wallet.available).toBe(100_000n);
          expect(accounts.get('disputes:sandbox-bank')).toBe(AMOUNT);
        }
      }
      const decision = { outcome: 'won', amountMinor: AMOUNT } as const;
      const { dispute, wallet } = apply([fact(), declined, { decision }, declined], refunded);
      expect(dispute).toMatchObject({ status: 'won', attention: null });
      expect(wallet.available).toBe(300_000n);
    });

    test('stays open with attention if another lost dispute explains the reversal, alone or with refunds; its own amount explains nothing', () => {
      const whole = { amountMinor: PAID };
      const reports = [fact(whole), fact({ ...whole, state: 'lost', byReversal: true })];
      expect(apply(reports).dispute?.status).toBe('lost');
      for (const [disputed, refundedMinor, status] of [
        [PAID, 0n, 'open'],
        [PAID - 1n, 1n, 'open'],
        [PAID - 1n, 0n, 'lost'],
      ] as const) {
        const charge = {
          ...paidCharge(),
          disputed_minor: disputed,
          refunded_minor: refundedMinor,
        };
        for (const facts of [reports, reports.slice(1)]) {
          const { dispute, accounts } = apply(facts, { charge, availableMinor: 500_000n });
          expect(dispute?.status).toBe(status);
          expect(accounts.get('clearing:sandbox-bank') ?? 0n).toBe(status === 'lost' ? PAID : 0n);
        }
      }
    });

    test('moves nothing and calls nobody if it was won before another dispute took the whole charge', () => {
      const won = apply([fact(), fact({ state: 'won' })]);
      const { dispute, charge } = won;
      if (!dispute || !charge) throw new Error('no dispute');
      const after = apply([declined], { dispute, charge: { ...charge, disputed_minor: PAID } });
      expect(after.verdicts).toEqual(['unchanged']);
      expect(after.dispute).toMatchObject({ status: 'won', attention: null });
      const before = apply([declined], { dispute, charge });
      expect(before.dispute?.attention?.reason).toContain('as lost what it had reported as won');
    });

    test('ends the call for an answer, and is decided by a later report that leaves nothing open', () => {
      const soon = fact({ dueAt: new Date(NOW.getTime() + 60_000) });
      const { dispute } = apply([soon, declined], refunded);
      expect(dispute?.attention?.reason).not.toMatch(/nobody answers it/);
      for (const state of ['won', 'lost'] as const) {
        const decided = apply([fact(), declined, fact({ state })], refunded).dispute;
        expect(decided?.status).toBe(state);
        expect(decided?.attention?.reason ?? '').not.toMatch(DECIDE);
      }
    });

    test('calls an operator if its loss was booked before the refunds were known, until one has decided or acknowledged it', () => {
      const booked = apply([fact(), declined]);
      const { dispute, charge, wallet } = booked;
      if (!dispute || !charge) throw new Error('no dispute');
      expect(dispute).toMatchObject({ status: 'lost', attention: null });
      const late = {
        charge: { ...charge, refunded_minor: PAID },
        dispute,
        availableMinor: wallet.available ?? 0n,
      };
      const called = apply([declined, declined], late);
      expect(called.verdicts).toEqual(['attention', 'unchanged']);
      expect(called.dispute).toMatchObject({
        status: 'lost',
        attention: { reason: expect.stringMatching(DECIDE) },
      });
      expect(called.wallet).toEqual(wallet);
      const decision = { outcome: 'won', amountMinor: AMOUNT } as const;
      const won = apply([declined, { decision }, declined], late);
      expect(won.dispute).toMatchObject({ status: 'won', attention: null });
      expect(won.wallet.available).toBe(300_000n);
      const right = apply([declined, { decision: null }, declined], late);
      expect(right.dispute).toMatchObject({ status: 'lost', attention: null });
      const lost = { decision: { outcome: 'lost', amountMinor: AMOUNT } } as const;
      const decided = apply([fact(), declined, lost, declined], refunded);
      expect(decided.dispute).toMatchObject({ status: 'lost', attention: null });
    });

    test('keeps its attention while it is open, whatever is acknowledged, because its amount is held', () => {
      const short = { ...refunded, availableMinor: 50_000n };
      const acknowledged = { decision: null };
      for (const around of [refunded, short]) {
        const { dispute } = apply([fact(), declined, acknowledged, acknowledged], around);
        expect(dispute).toMatchObject({
          status: 'open',
          attention: { reason: expect.stringMatching(/^the claim was declined/) },
        });
        expect(dispute?.acknowledged).toBeUndefined();
      }
    });

    test('calls nobody if the dispute is won already', () => {
      const { verdicts, dispute } = apply([fact(), fact({ state: 'won' }), declined], refunded);
      expect(verdicts.at(-1)).toBe('unchanged');
      expect(dispute).toMatchObject({ status: 'won' });
    });
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

describe('an operator', () => {
  const decided = (outcome: 'won' | 'lost', amountMinor = AMOUNT) => ({
    decision: { outcome, amountMinor },
  });
  const acknowledged = { decision: null };

  test('clears the attention of a contradiction, whose repeats call nobody; another contradiction calls again', () => {
    const contradiction = fact({ state: 'lost' });
    const facts = [fact(), fact({ state: 'won' }), contradiction, acknowledged, contradiction];
    const { dispute, wallet } = apply(facts);
    expect([dispute?.status, dispute?.attention]).toEqual(['won', null]);
    expect(wallet.available).toBe(300_000n);
    const other = apply([...facts, fact({ state: 'won', amountMinor: 1n })]);
    expect(other.dispute?.attention?.reason).toContain('another amount: 1 kobo');
  });

  test('acknowledges only the attention that was read, and not one that a report has raised since', () => {
    const before = [fact(), fact({ state: 'won' }), fact({ state: 'lost' })];
    const seen = apply(before).dispute?.attention?.reason ?? null;
    const raised = fact({ state: 'won', amountMinor: 1n });
    const { dispute } = apply([...before, raised, { decision: null, seen }]);
    expect(dispute?.attention?.reason).toContain('another amount: 1 kobo');
    expect(dispute?.acknowledged).toBeUndefined();
    expect(apply([...before, { decision: null, seen }]).dispute?.attention).toBeNull();
  });

  test('acknowledges that a dispute is due soon, and the next report of it calls again', () => {
    const soon = fact({ dueAt: new Date(NOW.getTime() + 60_000) });
    expect(apply([soon, acknowledged]).dispute?.attention).toBeNull();
    expect(apply([soon, acknowledged, soon]).dispute?.attention).not.toBeNull();
  });

  test('decides the other way: the money follows, the tenant is told, and the report agrees from then on', () => {
    const lost = apply([fact(), fact({ state: 'won' }), fact({ state: 'lost' }), decided('lost')]);
    expect(lost.dispute).toMatchObject({ status: 'lost', attention: null });
    expect(lost.wallet).toEqual({ available: 100_000n, owed: 0n });
    expect(lost.accounts.get('clearing:sandbox-bank')).toBe(AMOUNT);
    expect(lost.charge?.disputed_minor).toBe(AMOUNT);
    expect(lost.events.slice(-2)).toEqual(['charge.dispute_won', 'charge.dispute_lost']);
    const won = apply([fact({ state: 'lost' }), fact({ state: 'won' }), decided('won')]);
    expect(won.wallet).toEqual({ available: 300_000n, owed: 0n });
    expect(won.accounts.get('clearing:sandbox-bank')).toBe(0n);
    const told = apply([fact(), decided('lost'), fact({ state: 'lost' })]);
    expect(told.dispute).toMatchObject({ status: 'lost', attention: null });
  });

  test('decides with another amount: the part that is not lost returns to the wallet', () => {
    const part = [fact(), fact({ state: 'lost', amountMinor: 50_000n }), decided('lost', 50_000n)];
    for (const { dispute, wallet, charge, accounts, events } of [
      apply(part),
      apply([...part, fact({ state: 'lost', amountMinor: 50_000n })]),
    ]) {
      expect(dispute).toMatchObject({ status: 'lost', attention: null });
      expect(wallet.available).toBe(250_000n);
      expect(charge?.disputed_minor).toBe(50_000n);
      expect(accounts.get('disputes:sandbox-bank')).toBe(0n);
      expect(events).toEqual(['charge.disputed', 'charge.dispute_lost']);
    }
  });

  test('decides the amount of a lost dispute anew: the money follows, and the tenant is told', () => {
    const { dispute, wallet, events } = apply([
      fact(),
      fact({ state: 'lost' }),
      decided('lost', 50_000n),
    ]);
    expect(dispute).toMatchObject({ status: 'lost', amount_minor: 50_000n });
    expect(wallet.available).toBe(250_000n);
    expect(events).toEqual(['charge.disputed', 'charge.dispute_lost', 'charge.dispute_lost']);
  });

  test('decides a dispute of all that the customer has paid, the surcharge too', () => {
    const charge = { ...paidCharge(), surcharge_minor: 10_283n };
    const after = (minor: bigint) => apply([fact(), decided('lost', minor)], { charge }).dispute;
    expect([after(310_283n)?.status, after(310_284n)?.status]).toEqual(['lost', 'open']);
  });

  test('decides the amount of a won dispute anew: nothing moves, and the audit finds nothing then and later', () => {
    const won = [fact(), fact({ state: 'won' }), decided('won', 50_000n)];
    for (const facts of [won, [...won, decided('lost', 50_000n)]]) {
      const { wallet, dispute, problems } = apply(facts);
      const lost = dispute?.status === 'lost' ? 50_000n : 0n;
      expect([dispute?.amount_minor, wallet.available]).toEqual([50_000n, 300_000n - lost]);
      expect(problems).toEqual([]);
    }
  });

  test('decides a dispute that is larger than its charge, and none to more than both', () => {
    const beyond = fact({ amountMinor: 400_000n });
    const lost = apply([beyond, decided('lost', 400_000n)], { availableMinor: 500_000n });
    expect(lost.dispute).toMatchObject({ status: 'lost', amount_minor: 400_000n, attention: null });
    expect(lost.accounts.get('clearing:sandbox-bank')).toBe(400_000n);
    const more = apply([beyond, decided('lost', 400_001n)], { availableMinor: 500_000n });
    expect(more.dispute).toMatchObject({ status: 'open', amount_minor: 400_000n });
  });

  test('is called if a won dispute whose money was refunded meanwhile is decided lost', () => {
    const refunded = { ...paidCharge(), refunded_minor: 200_000n };
    const facts = [fact({ amountMinor: 50_000n }), fact({ state: 'won', amountMinor: 50_000n })];
    const within = apply([...facts, decided('lost', 100_000n)], { charge: refunded });
    expect(within.dispute).toMatchObject({ status: 'lost', attention: null });
    const beyond = apply([...facts, decided('lost', 100_001n)], { charge: refunded });
    expect(beyond.dispute?.attention?.reason).toContain('more is disputed and refunded');
  });

  test('decides nothing that is decided so, and no more than was paid', () => {
    for (const vain of [decided('won'), decided('lost', 10_000_000n)]) {
      const { wallet, dispute } = apply([fact(), fact({ state: 'won' }), vain]);
      expect([wallet.available, dispute?.status]).toEqual([300_000n, 'won']);
    }
  });

  test('may decide again and again beside any reports: the wallet and the accounts are those of the last decision, and the audit finds nothing after any step', () => {
    const end = fc.constantFrom('won' as const, 'lost' as const);
    const amount = fc.constantFrom(50_000n, AMOUNT, 300_000n);
    const report = fc.record({ state: end, amountMinor: amount }).map((each) => fact(each));
    const decision = fc.tuple(end, amount).map(([outcome, minor]) => decided(outcome, minor));
    fc.assert(
      fc.property(
        fc.constantFrom('with_us' as const, 'taken' as const),
        fc.array(fc.oneof(report, decision, fc.constant(acknowledged)), { maxLength: 6 }),
        decision,
        fc.constantFrom(0n, 50_000n, 300_000n),
        (funds, others, last, availableMinor) => {
          const all = [fact({ funds }), ...others, last];
          const { dispute, charge, wallet, accounts, problems } = apply(all, { availableMinor });
          const { outcome, amountMinor } = last.decision;
          expect(problems).toEqual([]);
          expect(dispute).toMatchObject({ status: outcome, amount_minor: amountMinor });
          const lost = outcome === 'lost' ? amountMinor : 0n;
          expect((wallet.available ?? 0n) - (wallet.owed ?? 0n)).toBe(availableMinor - lost);
          expect(charge?.disputed_minor).toBe(lost);
          expect(accounts.get('disputes:sandbox-bank') ?? 0n).toBe(0n);
          expect(accounts.get('clearing:sandbox-bank') ?? 0n).toBe(lost);
        },
      ),
    );
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
          const { dispute, charge, wallet, accounts, events, problems } = apply(facts, {
            availableMinor,
          });
          expect(problems).toEqual([]);
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
