import { cardOperations } from '../../src/capabilities/cards/card-operation.js';
import { type Named, type AnyMutation } from '../support/mutations.js';
import fc from 'fast-check';
import { type CardAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import { cards, OPEN_SECURITY } from '../../src/capabilities/cards/record.js';
import {
  decideAuthorizationMutation,
  authorizationFactMutation,
  keyOf,
  stateWith,
  TERMS,
  voidMutation,
} from '../support/authorizations.js';
import { openCard } from '../support/card-record.js';
import { balances, run } from '../support/decisions.js';
import { reloadOf } from '../support/fundings.js';
import { after as onePayment } from '../support/one-payment.js';
import { NOW } from '../support/transfers.js';

/** One payment after these mutations, with the verdict of each and the names of the postings. */
function after(...given: Parameters<typeof onePayment>) {
  const { one, ...found } = onePayment(...given);
  return {
    ...found,
    authorization: one,
    verdicts: found.outcomes.map((of) => ('verdict' in of ? of.verdict : 'decided')),
    postings: [...found.state.postings.keys()]
      .filter((id) => id !== 'given')
      .map((id) => id.split('/')[1]),
  };
}

const statusAndAmounts = ({ status, held_minor, cleared_minor }: CardAuthorization) =>
  [status, Number(held_minor), Number(cleared_minor)] as const;

const decision = decideAuthorizationMutation();
const cleared = (minor: bigint, at = 1, key = `c${at}`) =>
  authorizationFactMutation('cleared', { minor, at, key });
const reversed = (at = 2) => authorizationFactMutation('reversed', { at, key: `r${at}` });
const expired = (at = 3) => authorizationFactMutation('expired', { at });
const declined = (at = 1) => authorizationFactMutation('declined', { at });

describe('an authorization', () => {
  test('an approved authorization holds its amount on the card or in the wallet', () => {
    const prepaid = after([decision]);
    expect(statusAndAmounts(prepaid.authorization)).toEqual(['approved', 5_000, 0]);
    expect(prepaid.ledger).toMatchObject({ card: 5_000n, held: 5_000n });
    expect(prepaid.card).toMatchObject({
      available_minor: 5_000n,
      held_minor: 5_000n,
      open_holds: 1,
    });
    expect(prepaid.card.daily_spend).toEqual({ day: '2026-11-21', minor: 5_000n });
    const jit = after([decision], { funding: 'jit', available_minor: 0n }, 8_000n);
    expect(jit.ledger).toMatchObject({ wallet: 3_000n, walletHeld: 5_000n, card: 0n });
    expect(jit.card).toMatchObject({ held_minor: 0n, open_holds: 1 });
  });

  test('a clearing for less, for all or for more captures its amount and releases the rest of the hold', () => {
    const less = after([decision, cleared(4_200n)]);
    expect(statusAndAmounts(less.authorization)).toEqual(['cleared', 0, 4_200]);
    expect(less.ledger).toMatchObject({ card: 5_800n, held: 0n, network: 4_200n });
    expect(less.card).toMatchObject({ open_holds: 0 });
    expect(less.card.daily_spend.minor).toBe(4_200n);
    expect(after([decision, cleared(5_000n)]).ledger).toMatchObject({
      card: 5_000n,
      network: 5_000n,
    });
    const more = after([decision, cleared(6_000n)]);
    expect(more.ledger).toMatchObject({ card: 4_000n, held: 0n, network: 6_000n, owed: 0n });
  });

  test('a clearing above the card’s balance is debited from the wallet, and then becomes a receivable', () => {
    const all = after([decision, cleared(20_000n)], {}, 4_000n);
    expect(all.ledger).toMatchObject({ card: 0n, wallet: 0n, network: 20_000n, owed: 6_000n });
    expect(all.verdicts.at(-1)).toBe('attention');
    expect(all.authorization.attention?.reason).toContain('owes');
    const back = after([decision, cleared(20_000n), reversed()], {}, 4_000n);
    expect(back.ledger).toMatchObject({ card: 10_000n, wallet: 4_000n, network: 0n, owed: 0n });
  });

  test('partial clearings are distinguished by their key, and repeats are not counted', () => {
    const parts = after([decision, cleared(2_000n, 1), cleared(1_000n, 2), cleared(2_000n, 1)]);
    expect(statusAndAmounts(parts.authorization)).toEqual(['cleared', 0, 3_000]);
    expect(parts.postings).toEqual(['hold', 'clear', 'clear-2']);
    expect(parts.verdicts.at(-1)).toBe('unchanged');
    expect(parts.ledger).toMatchObject({ card: 7_000n, network: 3_000n });
  });

  test('a clearing after the expiry of the authorization is still captured', () => {
    const late = after([decision, expired(1), cleared(5_000n, 2)]);
    expect(statusAndAmounts(late.authorization)).toEqual(['cleared', 0, 5_000]);
    expect(late.ledger).toMatchObject({ card: 5_000n, network: 5_000n });
    expect(
      after([decision, expired(1), cleared(5_000n, 2)], { available_minor: 5_000n }).ledger,
    ).toMatchObject({ card: 0n, network: 5_000n, owed: 0n });
  });

  test('a reversal returns earlier clearings, and none that came after it', () => {
    expect(after([decision, cleared(4_200n, 1), reversed(2)]).ledger).toMatchObject({
      card: 10_000n,
      network: 0n,
    });
    const forced = after([decision, reversed(1), cleared(4_200n, 2)]);
    expect(statusAndAmounts(forced.authorization)).toEqual(['cleared', 0, 4_200]);
    const late = after([decision, reversed(2), cleared(4_200n, 1)]);
    expect(statusAndAmounts(late.authorization)).toEqual(['reversed', 0, 0]);
    expect(late.ledger).toMatchObject({ card: 10_000n, held: 0n, network: 0n });
  });

  test('a decline of the issuer after our approval releases the hold, and a repeated request is declined', () => {
    const released = after([
      decision,
      declined(),
      decideAuthorizationMutation({}, { authorizationRequestId: 'second' }),
    ]);
    expect(statusAndAmounts(released.authorization)).toEqual(['declined', 0, 0]);
    expect(released.ledger).toMatchObject({ card: 10_000n, held: 0n });
    expect(released.card).toMatchObject({ open_holds: 0, daily_spend: { minor: 0n } });
  });

  test('an authorization that the issuer reports before its decision is never approved afterwards', () => {
    for (const first of [declined(), reversed(), expired()]) {
      const { authorization, ledger } = after([first, decision]);
      expect(statusAndAmounts(authorization)).toEqual(['declined', 0, 0]);
      expect(ledger).toMatchObject({ card: 10_000n, held: 0n });
    }
    const taken = after([cleared(1_000n), decision]);
    expect(taken.authorization).toMatchObject({ status: 'cleared', approved: false });
    expect(taken.ledger).toMatchObject({ card: 9_000n, held: 0n, network: 1_000n });
    expect(taken.authorization.attention).not.toBeNull();
  });

  test('the reversal of a payment without an authorization request returns to the wallet that paid it', () => {
    const jit = { funding: 'jit', available_minor: 0n } as const;
    const { ledger } = after([cleared(1_000n, 1), reversed(2)], jit, 4_000n);
    expect(ledger).toMatchObject({ card: 0n, wallet: 4_000n, network: 0n, owed: 0n });
  });

  test('a reversal restores the daily limit by the amount that the payment used, and no more', () => {
    const spent = (...mutations: AnyMutation[]) =>
      after([
        decision,
        decideAuthorizationMutation({ token: 'auth_2', amountMinor: 1_000n }),
        ...mutations,
      ]).card.daily_spend;
    expect(spent(cleared(6_000n, 1)).minor).toBe(6_000n);
    expect(spent(cleared(6_000n, 1), reversed(2)).minor).toBe(1_000n);
    expect(spent(reversed(1), cleared(4_000n, 2)).minor).toBe(5_000n);
    const never = keyOf('auth_3');
    const unasked = [cleared(2_000n, 1), reversed(2)].map((mutation) => ({
      ...mutation,
      ...never,
    }));
    expect(spent(...unasked).minor).toBe(6_000n);
  });

  test('a token that an issuer used for another card is declined, and moves nothing', () => {
    const start = stateWith(openCard({ available_minor: 10_000n }), 0n);
    const other = openCard({ _id: 'crd_b', issued: null, available_minor: 0n });
    start.records.set(cards, other);
    const mixedUp = { card: 'crd_b' };
    const { state, outcomes } = run(start, [
      [decision],
      [{ ...decideAuthorizationMutation({}, { authorizationRequestId: 'second' }), ...mixedUp }],
      [{ ...cleared(5_000n), ...mixedUp }],
    ]);
    expect(outcomes[1]).toEqual({ authorization: null });
    expect(outcomes[2]).toMatchObject({ verdict: 'unknown_card' });
    expect(state.records.get(cards, 'crd_b')).toEqual(other);
    expect(state.records.get(cards, 'crd_a')).toMatchObject({ held_minor: 5_000n, open_holds: 1 });
  });

  test('money that returns to a closed card moves to the wallet, if its issuer holds no balances', () => {
    const closed = {
      status: 'closed',
      available_minor: 0n,
      held_minor: 5_000n,
      open_holds: 1,
      balances: 'ours',
    } as const;
    const start = after([decision], { available_minor: 5_000n });
    start.state.records.set(cards, { ...start.card, ...closed });
    const { state } = run(start.state, [[expired()]]);
    const ledger = balances(state);
    expect(ledger.get('wallet:ten_a:available')).toBe(5_000n);
    expect(ledger.get('card:crd_a:available')).toBe(0n);
  });
});

test('a clearing after a voided or unreceived approval needs an operator’s attention', () => {
  const { authorization, verdicts } = after([decision, declined(1), cleared(5_000n, 2)]);
  expect(verdicts).toEqual(['decided', 'applied', 'attention']);
  expect(authorization.attention?.reason).toBe('money was taken that we had not approved');
});

test('a payment declined for insufficient balance triggers the card’s auto-reload, as no later spending may follow', () => {
  const reload = reloadOf({ threshold_minor: 1_000n });
  const { state, authorization } = after(
    [decision],
    { available_minor: 10n, auto_reload: reload },
    8_000n,
  );
  expect(statusAndAmounts(authorization)).toEqual(['declined', 0, 0]);
  const [operation] = state.records.all(cardOperations);
  expect(operation).toMatchObject({ type: 'auto_reload', status: 'pending' });
  expect(state.records.get(cards, 'crd_a')?.auto_reload?.operation_id).toBe(operation?._id);
});

describe('an authorization request', () => {
  const voided = (requestId: string): Named<'applyCardAuthorizationFact'> => ({
    ...authorizationFactMutation('declined', { key: `voided-${requestId}` }),
    code: 'deadline_exceeded',
    by: { withdrawsRequestId: requestId, request: decision.request },
  });

  test('an authorization request after its deadline is declined, and the decline is stored', () => {
    const tooLate = decideAuthorizationMutation({}, { answerBy: new Date(NOW.getTime() - 1) });
    const { authorization, ledger } = after([
      tooLate,
      decideAuthorizationMutation({}, { authorizationRequestId: 'second' }),
    ]);
    expect(authorization).toMatchObject({ status: 'declined', code: 'deadline_exceeded' });
    expect(ledger).toMatchObject({ card: 10_000n, held: 0n });
  });

  test('an authorization request that was answered with a decline voids its committed approval', () => {
    const { authorization, ledger } = after([decision, voided('first')]);
    expect(statusAndAmounts(authorization)).toEqual(['declined', 0, 0]);
    expect(ledger).toMatchObject({ card: 10_000n, held: 0n });
  });

  test('an approval is not voided once a later request has answered with it', () => {
    const again = decideAuthorizationMutation({}, { authorizationRequestId: 'second' });
    const { authorization, verdicts } = after([decision, again, voided('first')]);
    expect(statusAndAmounts(authorization)).toEqual(['approved', 5_000, 0]);
    expect(verdicts.at(-1)).toBe('unchanged');
  });

  test('an authorization request that was never committed is stored as declined', () => {
    const { authorization } = after([
      voided('first'),
      decideAuthorizationMutation({}, { authorizationRequestId: 'second' }),
    ]);
    expect(authorization).toMatchObject({
      status: 'declined',
      amount_minor: 5_000n,
      approved: false,
    });
  });
});

const fact = fc
  .record({
    kind: fc.constantFrom('cleared', 'reversed', 'expired', 'declined'),
    minor: fc.constantFrom(1_000n, 5_000n, 30_000n),
    at: fc.integer({ min: 0, max: 6 }),
  })
  .map(({ kind, minor, at }) =>
    authorizationFactMutation(kind, {
      minor: kind === 'cleared' ? minor : 0n,
      at,
      key: `${kind}-${at}`,
    }),
  );
const facts = fc.uniqueArray(fact, {
  maxLength: 6,
  // Several events may have the same time. Repeats are those of the same key.
  selector: ({ fact: { key } }) => key,
});

test('an account verification is approved without a hold, a posting or a check', () => {
  const { authorization, card, postings } = after([
    decideAuthorizationMutation({ amountMinor: 0n }),
  ]);
  expect(authorization).toMatchObject({
    status: 'approved',
    held_minor: 0n,
    expires_at: null,
    next_check_at: null,
  });
  expect(card).toMatchObject({ available_minor: 10_000n, held_minor: 0n, open_holds: 0 });
  expect(postings).toEqual([]);
});

test('money that is taken after an account verification calls an operator', () => {
  const { authorization } = after([
    decideAuthorizationMutation({ amountMinor: 0n }),
    cleared(1_000n),
  ]);
  expect(authorization.attention?.reason).toContain('we had not approved');
});

test('a clearing and a reversal of the same time have the same effect in both orders', () => {
  const both = [cleared(5_000n, 1), reversed(1)];
  const wanted = ['reversed', 0, 0];
  expect(statusAndAmounts(after([decision, ...both]).authorization)).toEqual(wanted);
  expect(statusAndAmounts(after([decision, ...both.toReversed()]).authorization)).toEqual(wanted);
});

describe('events of the issuer in any order, with repeats', () => {
  test('events in any order, with repeats, lead to the same authorization and a balanced ledger', () => {
    fc.assert(
      fc.property(facts, fc.infiniteStream(fc.nat()), fc.boolean(), (inSequence, random, jit) => {
        const card = jit ? ({ funding: 'jit', available_minor: 0n } as const) : {};
        const shuffled = [...inSequence, ...inSequence]
          .map((mutation) => [random.next().value as number, mutation] as const)
          .toSorted(([a], [b]) => a - b)
          .map(([, mutation]) => mutation);
        const wanted = after([decision, ...inSequence], card, 10_000n);
        const found = after([decision, ...shuffled], card, 10_000n);
        expect(statusAndAmounts(found.authorization)).toEqual(
          statusAndAmounts(wanted.authorization),
        );
        for (const { authorization, card: stored, ledger, state } of [wanted, found]) {
          expect(ledger.network).toBe(authorization.cleared_minor);
          expect(ledger.held + ledger.walletHeld).toBe(authorization.held_minor);
          expect([stored.available_minor, stored.held_minor]).toEqual([ledger.card, ledger.held]);
          expect(stored.open_holds).toBe(authorization.held_minor > 0n ? 1 : 0);
          expect(state.wallets.get('ten_a')).toMatchObject({
            availableMinor: ledger.wallet,
            receivableMinor: ledger.owed,
          });
          expect(ledger.card >= 0n && ledger.wallet >= 0n && ledger.owed >= 0n).toBe(true);
          // The sum of all balances is constant.
          const all = ledger.card + ledger.held + ledger.wallet + ledger.walletHeld - ledger.owed;
          expect(all + ledger.network).toBe(jit ? 10_000n : 20_000n);
        }
      }),
    );
  });

  test('payments never hold more than the balance, nor more than the daily limit', () => {
    const amounts = fc.array(fc.bigInt({ min: 1n, max: 6_000n }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(amounts, fc.boolean(), (list, limited) => {
        const security = { ...OPEN_SECURITY, daily_limit_minor: limited ? 7_000n : null };
        const mutations = list.map((amountMinor, n) =>
          decideAuthorizationMutation({ token: `auth_${n}`, amountMinor }),
        );
        const start = stateWith(openCard({ available_minor: 10_000n, security }));
        const { state } = run(start, [mutations]);
        const held = balances(state).get('card:crd_a:held') ?? 0n;
        expect(held <= (limited ? 7_000n : 10_000n)).toBe(true);
        expect(state.records.get(cards, 'crd_a')?.available_minor).toBe(10_000n - held);
      }),
    );
  });
});

describe('a payment with as many reports as are kept', () => {
  const terms = { ...TERMS, mostReports: 3 };
  const bounded = (mutation: AnyMutation) => ({ ...mutation, terms }) as AnyMutation;
  const refunds = [2, 3, 4].map((at) =>
    bounded(authorizationFactMutation('refunded', { at, key: `f${at}`, minor: 100n })),
  );
  const full = [decision, cleared(5_000n), ...refunds].map(bounded);

  test('applies no further report of its issuer, and calls an operator once', () => {
    const { authorization, verdicts, ledger } = after(full);
    expect(verdicts).toEqual(['decided', 'applied', 'applied', 'full', 'full']);
    expect([authorization.facts.length, authorization.refunded_minor]).toEqual([3, 100n]);
    expect(authorization.attention?.reason).toContain('more requests or reports than are kept');
    const calls = authorization.timeline.filter(({ type }) => type === 'attention_raised');
    expect([calls.length, ledger.network]).toEqual([1, 4_900n]);
    const repeat = after([...full, bounded(cleared(5_000n))]);
    expect(repeat.verdicts.at(-1)).toBe('unchanged');
  });

  test('applies them once the bound is higher', () => {
    const [, again] = refunds;
    const { authorization } = after([...full, { ...again, terms: TERMS } as AnyMutation]);
    expect(authorization.refunded_minor).toBe(200n);
  });

  test('declines a further request and holds nothing for it, and a repeat gets its decision', () => {
    const asked = decideAuthorizationMutation({ messageId: 'm9', amountMinor: 1n });
    const { authorization, card } = after([...full, bounded(asked), bounded(decision)]);
    expect(authorization.messages.map(({ message_id: id }) => id)).toEqual(['msg_1']);
    expect([authorization.held_minor, card.open_holds]).toEqual([0n, 0]);
  });

  test('still releases a hold that we withdraw', () => {
    const increments = ['m2', 'm3'].map((messageId) => decideAuthorizationMutation({ messageId }));
    const withdrawn = voidMutation({ messageId: 'm3' }, { at: 1 });
    const { authorization } = after([decision, ...increments, withdrawn].map(bounded), {
      available_minor: 20_000n,
    });
    expect(authorization.held_minor).toBe(10_000n);
  });
});
