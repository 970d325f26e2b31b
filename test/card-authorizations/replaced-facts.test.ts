import { OPEN_SECURITY, type Card } from '../../src/capabilities/cards/record.js';
import {
  authorizationFactMutation,
  decideAuthorizationMutation,
  standInMutation,
  voidMutation,
} from '../support/authorizations.js';
import type { AnyMutation } from '../support/mutations.js';
import { after, checkBooks, cleared, fact, message, seconds } from '../support/one-payment.js';
import { NOW } from '../support/transfers.js';

describe('a financial message', () => {
  const asked = { messageId: 'm1', kind: 'financial', amountMinor: 5_000n } as const;
  const financial = decideAuthorizationMutation(asked);
  /** The issuer's own report has the id of the request. */
  const reported = (minor: bigint, at = 1, partial = false) =>
    authorizationFactMutation('cleared', { key: 'cleared-m1', at, minor, partial });
  const declines = [
    ['our void', voidMutation(asked, { at: 1 })],
    ['the issuer’s decline', fact('declined', 1, { message: 'm1' })],
    ['the issuer’s decline of all messages', fact('declined', 1, { message: null })],
  ] as const;

  test.each(declines)('takes its amount at once, and %s returns it', (_, declined) => {
    const taken = after([financial]);
    expect(taken).toMatchObject({
      one: { status: 'cleared', held_minor: 0n, cleared_minor: 5_000n, attention: null },
      ledger: { card: 5_000n, held: 0n, network: 5_000n },
      card: { open_holds: 0, daily_spend: { minor: 5_000n } },
    });
    const returned = after([financial, declined]);
    expect(returned).toMatchObject({
      one: { status: 'declined', held_minor: 0n, cleared_minor: 0n, attention: null },
      ledger: { card: 10_000n, held: 0n, network: 0n },
      card: { open_holds: 0, daily_spend: { minor: 0n } },
    });
    expect(returned.events.at(-1)).toBe('card.authorization.declined');
    const jit = { funding: 'jit', available_minor: 0n } as const;
    const ofWallet = after([financial, declined], jit, 5_000n);
    expect(ofWallet.ledger).toMatchObject({ wallet: 5_000n, card: 0n, network: 0n });
  });

  /** A second financial message of the payment, which holds more than it takes. */
  const holdsMore = decideAuthorizationMutation({
    ...asked,
    messageId: 'm2',
    amountMinor: 2_000n,
    holdMinor: 2_500n,
    requestedAt: seconds(1),
  });

  test('ends the hold of its own message and no other', () => {
    const both = [message('m1', 5_000n), holdsMore];
    expect(after(both)).toMatchObject({
      one: { status: 'partially_cleared', held_minor: 5_000n, cleared_minor: 2_000n },
      ledger: { card: 3_000n, held: 5_000n, network: 2_000n },
    });
    const report = authorizationFactMutation('cleared', {
      key: 'cleared-m2',
      at: 2,
      minor: 2_000n,
    });
    const next = message('m3', 1_000n, 1);
    expect(after([...both, report, next])).toMatchObject({
      one: { status: 'partially_cleared', held_minor: 6_000n, cleared_minor: 2_000n },
      ledger: { card: 2_000n, held: 6_000n, network: 2_000n },
    });
    expect(after([...both, fact('declined', 2, { message: 'm2' })])).toMatchObject({
      one: { status: 'approved', held_minor: 5_000n, cleared_minor: 0n },
      ledger: { card: 5_000n, held: 5_000n, network: 0n },
    });
  });

  test('is taken once when the issuer reports its clearing too, which decides on the amount', () => {
    const both = after([financial, reported(5_000n), reported(5_000n)]);
    expect(both.one).toMatchObject({ status: 'cleared', cleared_minor: 5_000n, held_minor: 0n });
    expect(both.ledger).toMatchObject({ card: 5_000n, network: 5_000n });
    const less = after([financial, reported(4_000n)]);
    expect(less.one).toMatchObject({ status: 'cleared', cleared_minor: 4_000n });
    expect(less.ledger).toMatchObject({ card: 6_000n, network: 4_000n });
  });

  test('is declined if the issuer has reported its clearing before it arrived, and no hold grows', () => {
    const { one, ledger } = after([message('m0', 2_000n), reported(1_500n, 1, true), financial]);
    expect(one.messages[1]).toMatchObject({ approved: false, code: 'already_ended' });
    expect(one).toMatchObject({ held_minor: 500n, cleared_minor: 1_500n });
    expect(ledger).toMatchObject({ card: 8_000n, held: 500n, network: 1_500n });
  });

  test('reported for a part of its amount, with more to come, it holds nothing of the rest', () => {
    const { one, ledger } = after([financial, reported(500n, 1, true)]);
    expect(one).toMatchObject({ status: 'cleared', held_minor: 0n, cleared_minor: 500n });
    expect(ledger).toMatchObject({ card: 9_500n, held: 0n, network: 500n });
  });

  test.each(declines)('taken by the issuer in spite of %s, it calls an operator', (_, declined) => {
    for (const facts of [
      [declined, reported(5_000n, 2)],
      [reported(5_000n, 2), declined],
    ]) {
      const { one, ledger } = after([financial, ...facts]);
      expect(one.attention?.reason).toBe('money was taken that we had not approved');
      expect(ledger).toMatchObject({ card: 5_000n, held: 0n, network: 5_000n });
    }
  });

  describe('that the network approved in our place too', () => {
    const advice = (minor = 5_000n) => standInMutation(minor, { message: 'm1', at: 2 });
    /** After both orders of these reports, with the books checked. */
    const bothOrders = (
      [first, second]: [AnyMutation, AnyMutation],
      { before = [], later = [], card = {}, wallet = 0n }: Given = {},
    ) =>
      [
        [first, second],
        [second, first],
      ].map((reports) => {
        const end = after([financial, ...before, ...reports, ...later], card, wallet);
        checkBooks(end.state);
        return end;
      });
    type Given = {
      before?: AnyMutation[];
      later?: AnyMutation[];
      card?: Partial<Card>;
      wallet?: bigint;
    };
    const places = [
      ['a card with more', { available_minor: 10_000n }, 0n],
      ['a card that it empties', { available_minor: 5_000n }, 0n],
      ['a just-in-time card', { funding: 'jit', available_minor: 0n }, 5_000n],
    ] as const;
    const all = declines.flatMap((decline) =>
      places.map((place) => [...decline, ...place] as const),
    );

    test.each(all)('stays taken after %s, in either order, from %s', (...given) => {
      const [, declined, , card, wallet] = given;
      for (const { one, ledger, card: on } of bothOrders([advice(), declined], { card, wallet })) {
        expect(one).toMatchObject({ status: 'cleared', held_minor: 0n, cleared_minor: 5_000n });
        expect(one).toMatchObject({ stand_in: 'network', amount_minor: 5_000n, attention: null });
        const left = (card.available_minor || wallet) - 5_000n;
        expect(ledger).toMatchObject({ held: 0n, walletHeld: 0n, network: 5_000n, owed: 0n });
        expect(ledger.card + ledger.wallet).toBe(left);
        expect(on).toMatchObject({ open_holds: 0, daily_spend: { minor: 5_000n } });
      }
    });

    test.each(declines)(
      'takes what is owed if %s came first and the money was spent',
      (_, ends) => {
        const other = decideAuthorizationMutation({ token: 'auth_2', amountMinor: 5_000n });
        const { state, one, ledger, card } = after([financial, ends, other, advice()], {
          available_minor: 5_000n,
        });
        checkBooks(state);
        expect(one).toMatchObject({ status: 'cleared', held_minor: 0n, cleared_minor: 5_000n });
        expect(one.attention?.reason).toBe(
          'more was taken than there was: the tenant owes the rest',
        );
        expect(ledger).toMatchObject({ card: 0n, held: 5_000n, network: 5_000n, owed: 5_000n });
        expect(card.open_holds).toBe(1);
      },
    );

    test.each([
      ['finally', false],
      ['in part', true],
    ])('is taken with the amount that the issuer reports %s, before or after', (_, partial) => {
      const report = reported(4_000n, 1, partial);
      for (const [, declined] of declines) {
        for (const { one, ledger } of [
          ...bothOrders([advice(), declined], { before: [report] }),
          ...bothOrders([advice(), declined], { later: [report] }),
        ]) {
          expect(one).toMatchObject({ status: 'cleared', held_minor: 0n, cleared_minor: 4_000n });
          expect(ledger).toMatchObject({ card: 6_000n, held: 0n, network: 4_000n, owed: 0n });
        }
      }
    });

    test.each([3_000n, 8_000n])('is taken with the %d that the network approved', (minor) => {
      for (const [, declined] of declines) {
        for (const { one, ledger, card } of bothOrders([advice(minor), declined])) {
          expect(one).toMatchObject({ status: 'cleared', held_minor: 0n, cleared_minor: minor });
          expect(one).toMatchObject({ amount_minor: minor });
          expect(ledger).toMatchObject({ card: 10_000n - minor, held: 0n, network: minor });
          expect(card).toMatchObject({ open_holds: 0, daily_spend: { minor } });
        }
      }
    });

    test('keeps the hold of another message', () => {
      const late = standInMutation(2_000n, { message: 'm2', at: 2 });
      const ends = fact('declined', 2, { message: 'm2' });
      for (const reports of [
        [late, ends],
        [ends, late],
      ]) {
        const { one, ledger, state } = after([message('m1', 5_000n), holdsMore, ...reports]);
        checkBooks(state);
        expect(one).toMatchObject({ status: 'partially_cleared', cleared_minor: 2_000n });
        expect(ledger).toMatchObject({ card: 3_000n, held: 5_000n, network: 2_000n });
      }
    });
  });
});

describe('a request that names the new total of its payment', () => {
  const total = (amountMinor: bigint, at: number) =>
    decideAuthorizationMutation({
      messageId: `total-${at}`,
      basis: 'total',
      amountMinor,
      requestedAt: seconds(at),
    });

  test.each([
    ['nothing, so the difference', [], 3_000n, 8_000n],
    ['an expiry, so all of it', [fact('expired', 1)], 8_000n, 8_000n],
    ['a reversal, so all of it', [fact('reversed', 1)], 8_000n, 8_000n],
    ['a partial reversal', [fact('reversed', 1, { minor: 1_000n })], 4_000n, 8_000n],
    ['a partial clearing', [cleared(2_000n, 1, true)], 3_000n, 6_000n],
    ['a final clearing', [cleared(2_000n, 1)], 6_000n, 6_000n],
    ['more taken than approved', [cleared(6_000n, 1)], 3_000n, 3_000n],
  ] as const)('holds what is missing after %s', (_, ends, approved, held) => {
    const { one, ledger } = after([message('m1', 5_000n), ...ends, total(8_000n, 2)], {
      available_minor: 100_000n,
    });
    expect(one.messages.at(-1)).toMatchObject({ approved: true, amount_minor: approved });
    expect(one.held_minor).toBe(held);
    expect(ledger.held).toBe(held);
  });

  test('what was released does not count towards the limit of one payment', () => {
    const security = { ...OPEN_SECURITY, per_transaction_limit_minor: 6_000n };
    const again = [message('m1', 5_000n), fact('expired', 1), message('m2', 5_000n, 2)];
    const { one } = after(again, { security });
    expect(one.messages[1]).toMatchObject({ approved: true });
    expect(one.held_minor).toBe(5_000n);
  });
});

describe('an approval in our place', () => {
  test('a payment that the network approved in our place is held as far as there is money, and calls an operator beyond', () => {
    const covered = after([standInMutation(4_000n)]);
    expect(covered).toMatchObject({
      one: { status: 'approved', stand_in: 'network', held_minor: 4_000n, attention: null },
      ledger: { card: 6_000n, held: 4_000n },
    });
    const beyond = after([standInMutation(14_000n)]);
    expect(beyond.one).toMatchObject({ held_minor: 10_000n });
    expect(beyond.one.attention?.reason).toContain('in our place');
  });

  test('a partial reversal beyond what we hold, within what the issuer holds, returns no money that was taken', () => {
    const parts = [standInMutation(14_000n), cleared(9_000n, 1, true)];
    const reversed = after([...parts, fact('reversed', 2, { minor: 2_000n })]);
    expect(reversed).toMatchObject({
      one: { status: 'partially_cleared', held_minor: 0n, cleared_minor: 9_000n },
      ledger: { card: 1_000n, held: 0n, network: 9_000n, owed: 0n },
    });
    const beyond = after([...parts, fact('reversed', 2, { minor: 6_000n })]);
    expect(beyond).toMatchObject({
      one: { status: 'cleared', held_minor: 0n, cleared_minor: 8_000n },
      ledger: { card: 2_000n, held: 0n, network: 8_000n, owed: 0n },
    });
    checkBooks(beyond.state);
  });

  test('the issuer’s word that it holds nothing ends its hold also where nothing is held here', () => {
    const parts = [standInMutation(14_000n), cleared(10_000n, 1, true)];
    const { one } = after(parts);
    expect(one).toMatchObject({ held_minor: 0n, cleared_minor: 10_000n });
    const over = one.facts.filter(({ kind }) => kind === 'approved').map(({ key }) => key);
    const released = { ...fact('expired', 2), by: { over } };
    const reversal = fact('reversed', 3, { minor: 4_000n });
    const returned = after([...parts, released, reversal]);
    expect(returned).toMatchObject({
      one: { status: 'cleared', cleared_minor: 6_000n },
      ledger: { card: 4_000n, network: 6_000n },
    });
    checkBooks(returned.state);
  });

  test('an approval that is told after a later reversal adds no more to the hold than there is', () => {
    const late = standInMutation(5_000n, { message: 'm2', at: 1 });
    const { one, ledger, state } = after([
      message('m1', 10_000n),
      fact('reversed', 2, { minor: 2_000n }),
      late,
    ]);
    expect(one.held_minor).toBe(10_000n);
    expect(ledger).toMatchObject({ card: 0n, held: 10_000n });
    checkBooks(state);
  });

  test('a partial reversal within the issuer’s hold of a partial approval returns nothing that was taken', () => {
    const asked = { amountMinor: 10_000n, holdMinor: 12_000n, partialApproval: true } as const;
    const { one, ledger, state } = after([
      decideAuthorizationMutation(asked),
      cleared(10_000n, 1, true),
      fact('reversed', 2, { minor: 2_000n }),
    ]);
    expect(one).toMatchObject({ status: 'cleared', held_minor: 0n, cleared_minor: 10_000n });
    expect(ledger).toMatchObject({ card: 0n, held: 0n, network: 10_000n });
    checkBooks(state);
  });

  test('a limit of one payment counts what the issuer still holds beyond our hold', () => {
    const security = { ...OPEN_SECURITY, per_transaction_limit_minor: 6_000n };
    const parts = [standInMutation(5_000n), cleared(2_000n, 1, true)];
    const more = message('m2', 2_000n, 2);
    const { one } = after([...parts, more], { available_minor: 3_000n, security });
    expect(one.messages.at(-1)).toMatchObject({ code: 'per_transaction_limit_exceeded' });
  });

  test('a partial reversal of a payment for which there is no money leaves it open', () => {
    const parts = [standInMutation(5_000n), fact('reversed', 1, { minor: 2_000n })];
    const empty = { available_minor: 0n };
    expect(after(parts, empty).one).toMatchObject({ status: 'approved', held_minor: 0n });
    const taken = after(
      [...parts, cleared(3_000n, 2), fact('refunded', 3, { minor: 1_000n })],
      empty,
    );
    expect(taken).toMatchObject({
      one: { status: 'cleared', cleared_minor: 3_000n, refunded_minor: 1_000n },
      ledger: { card: 0n, network: 2_000n, owed: 2_000n },
    });
    checkBooks(taken.state);
  });

  test('a payment that we had declined is held once the network approved it in our place', () => {
    const late = decideAuthorizationMutation({}, { answerBy: new Date(NOW.getTime() - 1) });
    const { one, ledger } = after([late, standInMutation(5_000n, { at: 1 })]);
    expect(one).toMatchObject({ status: 'approved', held_minor: 5_000n });
    expect(ledger.held).toBe(5_000n);
  });

  test('an advice about a message that we approved ourselves changes nothing', () => {
    const { ledger, one, events } = after([
      message('msg_1', 5_000n),
      standInMutation(5_000n, { at: 1 }),
    ]);
    expect(ledger.held).toBe(5_000n);
    expect(one).toMatchObject({ stand_in: null, amount_minor: 5_000n, attention: null });
    expect(events).toEqual(['card.authorization.approved']);
  });

  test.each([
    ['our void', voidMutation({}, { at: 1 })],
    ['the issuer’s decline', fact('declined', 1, { message: 'msg_1' })],
  ])('keeps the money held after %s of our own approval, in either order', (_, declined) => {
    const advice = standInMutation(5_000n, { at: 2 });
    for (const facts of [
      [advice, declined],
      [declined, advice],
    ]) {
      const { one, ledger, card, events } = after([message('msg_1', 5_000n), ...facts]);
      expect(one).toMatchObject({ status: 'approved', stand_in: 'network', held_minor: 5_000n });
      expect(one).toMatchObject({ amount_minor: 5_000n, attention: null });
      expect(ledger).toMatchObject({ card: 5_000n, held: 5_000n });
      expect(card).toMatchObject({ open_holds: 1, daily_spend: { minor: 5_000n } });
      expect(events.at(-1)).toBe('card.authorization.approved');
    }
  });

  test('a clearing before our void ends the hold of the approval in our place too', () => {
    const { one, ledger } = after([
      message('msg_1', 5_000n),
      cleared(5_000n, 1),
      standInMutation(5_000n, { at: 2 }),
      voidMutation({}, { at: 3 }),
    ]);
    expect(one).toMatchObject({ status: 'cleared', held_minor: 0n, cleared_minor: 5_000n });
    expect(one.attention).toBeNull();
    expect(ledger).toMatchObject({ card: 5_000n, held: 0n, network: 5_000n });
  });

  test('a request that arrives after the approval in our place of its message is declined, and holds nothing more', () => {
    const { one, ledger } = after([standInMutation(3_000n, { at: 1 }), message('msg_1', 3_000n)]);
    expect(one.messages).toEqual([
      expect.objectContaining({ approved: false, code: 'already_ended' }),
    ]);
    expect(one).toMatchObject({ status: 'approved', held_minor: 3_000n });
    expect(ledger.held).toBe(3_000n);
  });
});
