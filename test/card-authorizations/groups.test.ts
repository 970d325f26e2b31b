import fc from 'fast-check';
import { isApproved } from '../../src/capabilities/card-authorizations/record.js';
import { OPEN_SECURITY } from '../../src/capabilities/cards/record.js';
import { after, cleared, fact, message } from '../support/one-payment.js';

describe('another message of one payment', () => {
  test('an increment is decided by itself, and its amount is held on top', () => {
    const { one, ledger, card } = after([message('m1', 5_000n), message('m2', 3_000n, 1)]);
    expect(one).toMatchObject({ status: 'approved', amount_minor: 8_000n, held_minor: 8_000n });
    expect(ledger).toMatchObject({ card: 2_000n, held: 8_000n });
    expect(card).toMatchObject({ open_holds: 1, daily_spend: { minor: 8_000n } });
  });

  test('an increment above the balance is declined, and the hold before it stays', () => {
    const { one, ledger, events } = after([message('m1', 5_000n), message('m2', 500_000n, 1)]);
    expect(one).toMatchObject({ status: 'approved', approved: true, held_minor: 5_000n });
    expect(one.messages.map(({ approved, code }) => [approved, code])).toEqual([
      [true, 'approved'],
      [false, 'insufficient_balance'],
    ]);
    expect(ledger).toMatchObject({ card: 5_000n, held: 5_000n });
    expect(events).toEqual(['card.authorization.approved', 'card.authorization.declined']);
  });

  test('increments count towards the limit of one payment', () => {
    const security = { ...OPEN_SECURITY, per_transaction_limit_minor: 6_000n };
    const { one } = after([message('m1', 5_000n), message('m2', 2_000n, 1)], { security });
    expect(one.messages[1]?.code).toBe('per_transaction_limit_exceeded');
  });

  test.each([
    ['reversed', fact('reversed', 1)],
    ['expired', fact('expired', 1)],
    ['cleared', cleared(2_000n, 1)],
  ] as const)('a request after its payment was %s holds money like a new payment', (_, end) => {
    const { one, ledger } = after([message('m1', 5_000n), end, message('m2', 4_000n, 2)]);
    expect(one.held_minor).toBe(4_000n);
    expect(ledger.held).toBe(4_000n);
  });

  test('a request that the issuer had ended before it arrived here is declined', () => {
    const { one, ledger } = after([
      message('m1', 5_000n),
      fact('reversed', 5),
      message('m2', 4_000n, 2),
    ]);
    expect(one.messages[1]).toMatchObject({ approved: false, code: 'already_ended' });
    expect(ledger).toMatchObject({ card: 10_000n, held: 0n });
  });

  test('the decline of one message releases its own hold and no other', () => {
    const declined = fact('declined', 2, { message: 'm2' });
    const { one, ledger } = after([message('m1', 5_000n), message('m2', 3_000n, 1), declined]);
    expect(one).toMatchObject({ status: 'approved', held_minor: 5_000n, amount_minor: 5_000n });
    expect(ledger).toMatchObject({ card: 5_000n, held: 5_000n });
  });

  test('the decline of all messages so far does not decline a later one', () => {
    const all = fact('declined', 1, { message: null });
    const { one, ledger } = after([message('m1', 5_000n), all, message('m2', 3_000n, 2)]);
    expect(one).toMatchObject({ status: 'approved', held_minor: 3_000n });
    expect([isApproved(one, 'm1'), isApproved(one, 'm2')]).toEqual([false, true]);
    expect(ledger).toMatchObject({ card: 7_000n, held: 3_000n });
  });

  test('one payment may hold money on the card and in the wallet, and returns each part to its place', () => {
    const jit = { funding: 'jit', available_minor: 5_000n } as const;
    const both = [message('m1', 5_000n), message('m2', 3_000n, 1)];
    const { one, ledger } = after(both, jit, 10_000n);
    expect(one).toMatchObject({ held_minor: 8_000n, held_wallet_minor: 3_000n });
    expect(ledger).toMatchObject({ held: 5_000n, walletHeld: 3_000n, wallet: 7_000n });
    expect(after([...both, fact('expired', 2)], jit, 10_000n).ledger).toMatchObject({
      card: 5_000n,
      wallet: 10_000n,
      held: 0n,
      walletHeld: 0n,
    });
  });
});

describe('parts of a payment', () => {
  test('a partial clearing lowers the hold until the final one, so that the rest cannot be spent elsewhere', () => {
    const first = [message('m1', 10_000n), cleared(2_000n, 1, true)];
    expect(after(first)).toMatchObject({
      one: { status: 'partially_cleared', held_minor: 8_000n, cleared_minor: 2_000n },
      ledger: { card: 0n, held: 8_000n, network: 2_000n },
    });
    const all = after([...first, cleared(8_000n, 2)], {}, 1_000_000n);
    expect(all).toMatchObject({
      one: { status: 'cleared', held_minor: 0n, attention: null },
      ledger: { card: 0n, wallet: 1_000_000n, network: 10_000n },
    });
  });

  test('a partial reversal returns the hold first, and then what was taken', () => {
    const part = fact('reversed', 2, { minor: 6_000n });
    expect(after([message('m1', 10_000n), part])).toMatchObject({
      one: { status: 'approved', held_minor: 4_000n },
      ledger: { card: 6_000n, held: 4_000n },
    });
    expect(after([message('m1', 10_000n), cleared(7_000n, 1, true), part])).toMatchObject({
      one: { status: 'cleared', held_minor: 0n, cleared_minor: 4_000n },
      ledger: { card: 6_000n, held: 0n, network: 4_000n },
    });
  });

  test('a refund of the merchant returns money, its reversal takes it again, and a correction changes what was taken', () => {
    const paid = [message('m1', 5_000n), cleared(5_000n, 1)];
    const refunded = [...paid, fact('refunded', 2, { minor: 2_000n })];
    expect(after(refunded)).toMatchObject({
      one: { status: 'cleared', cleared_minor: 5_000n, refunded_minor: 2_000n },
      ledger: { card: 7_000n, network: 3_000n },
    });
    const back = after([...refunded, fact('refund_reversed', 3, { minor: 2_000n })]);
    expect(back).toMatchObject({ one: { refunded_minor: 0n }, ledger: { card: 5_000n } });
    const corrected = after([...paid, fact('corrected', 2, { minor: -500n })]);
    expect(corrected).toMatchObject({ one: { cleared_minor: 4_500n }, ledger: { card: 5_500n } });
  });

  test('a reversal after a refund returns only what the refund has not returned', () => {
    const { ledger } = after([
      message('m1', 5_000n),
      cleared(5_000n, 1),
      fact('refunded', 2, { minor: 2_000n }),
      fact('reversed', 3),
    ]);
    expect(ledger).toMatchObject({ card: 10_000n, network: 0n });
  });

  test('a refund of a payment that is not known here is credited to the card, and is no decline', () => {
    const { one, ledger } = after([fact('refunded', 1, { minor: 700n })]);
    expect(one).toMatchObject({ status: 'cleared', refunded_minor: 700n, attention: null });
    expect(ledger).toMatchObject({ card: 10_700n, network: -700n });
  });
});

describe('more cleared than approved', () => {
  const big = { available_minor: 5_000_000n };

  test.each([
    ['by the tolerated share', 5_000n, 6_000n, null],
    ['by more than the tolerated share', 5_000n, 6_001n, 'more was taken than was approved'],
    ['by the tolerated amount', 2_500_000n, 3_000_000n, null],
    [
      'by more than the tolerated amount',
      2_600_000n,
      3_100_001n,
      'more was taken than was approved',
    ],
  ])('%s', (_, approved, taken, reason) => {
    const { one, events } = after([message('m1', approved), cleared(taken, 1)], big);
    expect(one.attention?.reason ?? null).toBe(reason);
    expect(events.at(-1)).toBe('card.authorization.cleared');
  });

  test('the wallet that paid more than was approved calls an operator, and the reversal returns its money to it', () => {
    const taken = [message('m1', 5_000n), cleared(50_000n, 1)];
    const funded = { available_minor: 5_000n };
    const over = after(taken, funded, 1_000_000n);
    expect(over.one.attention?.reason).toBe('more was taken than was approved');
    expect(over.ledger).toMatchObject({ card: 0n, wallet: 955_000n });
    expect(after([...taken, fact('reversed', 2)], funded, 1_000_000n).ledger).toMatchObject({
      card: 5_000n,
      wallet: 1_000_000n,
      owed: 0n,
    });
  });
});

describe('any sequence of messages and facts of one payment', () => {
  const amount = fc.constantFrom(1_000n, 2_500n, 6_000n);
  const step = fc.oneof(
    fc.record({ kind: fc.constant('request' as const), amount }),
    fc.record({
      kind: fc.constantFrom('cleared', 'reversed', 'refunded'),
      amount,
      partial: fc.boolean(),
    }),
    fc.record({ kind: fc.constantFrom('expired', 'reverse_all'), amount }),
  );

  const mutationOf = (given: { kind: string; amount: bigint; partial?: boolean }, at: number) => {
    const { kind, amount: minor, partial = false } = given;
    if (kind === 'request') return message(`m${at}`, minor, at);
    if (kind === 'reverse_all') return fact('reversed', at);
    if (kind === 'cleared') return cleared(minor, at, partial);
    if (kind === 'reversed') return fact('reversed', at, { minor });
    return kind === 'refunded' ? fact('refunded', at, { minor }) : fact('expired', at);
  };

  /** The hold that a simple model of the issuer computes from the answers that it got. */
  function heldAtIssuer(
    steps: { kind: string; amount: bigint; partial?: boolean }[],
    yes: boolean[],
  ) {
    return steps.reduce((held, { kind, amount: minor, partial }, n) => {
      if (kind === 'request') return yes[n] ? held + minor : held;
      if (kind === 'refunded') return held;
      const whole =
        kind === 'expired' || kind === 'reverse_all' || (kind === 'cleared' && !partial);
      return whole || minor > held ? 0n : held - minor;
    }, 0n);
  }

  test('everything that is approved and not ended is held, to the kobo', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.boolean(), (steps, jit) => {
        const card = jit ? ({ funding: 'jit', available_minor: 3_000n } as const) : {};
        const { one, ledger, card: stored } = after(steps.map(mutationOf), card, 20_000n);
        const yes = steps.map(
          (_, n) => one.messages.find((each) => each.message_id === `m${n}`)?.approved === true,
        );
        expect(one.held_minor).toBe(heldAtIssuer(steps, yes));
        expect(ledger.held + ledger.walletHeld).toBe(one.held_minor);
        expect(ledger.network).toBe(one.cleared_minor - one.refunded_minor);
        expect(stored.open_holds).toBe(one.held_minor > 0n ? 1 : 0);
        expect([stored.available_minor, stored.held_minor]).toEqual([ledger.card, ledger.held]);
      }),
    );
  });

  test('after any clearings and a full reversal, card, wallet and receivable are as before', () => {
    const clearing = fc.record({
      minor: fc.bigInt({ min: 1n, max: 30_000n }),
      partial: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(clearing, { maxLength: 6 }), fc.boolean(), (list, jit) => {
        const card = jit ? ({ funding: 'jit', available_minor: 3_000n } as const) : {};
        const paid = [
          message('m1', 5_000n),
          ...list.map(({ minor, partial }, n) => cleared(minor, n + 1, partial)),
        ];
        const { one } = after(paid, card, 20_000n);
        // More than the approval and its tolerance is taken only if the issuer said so, and then an operator knows.
        expect(one.attention !== null).toBe(one.cleared_minor > 6_000n);
        const { ledger } = after([...paid, fact('reversed', 100)], card, 20_000n);
        expect(ledger).toEqual({
          card: jit ? 3_000n : 10_000n,
          held: 0n,
          wallet: 20_000n,
          walletHeld: 0n,
          network: 0n,
          owed: 0n,
        });
      }),
    );
  });
});
