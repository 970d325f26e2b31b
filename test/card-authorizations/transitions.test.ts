import { cardOperations } from '../../src/capabilities/cards/card-operation.js';
import { type Named, type AnyMutation } from '../support/mutations.js';
import fc from 'fast-check';
import {
  cardAuthorizations,
  type CardAuthorization,
} from '../../src/capabilities/card-authorizations/card-authorization.js';
import { cards, OPEN_SECURITY, type Card } from '../../src/capabilities/cards/card.js';
import {
  decideAuthorizationMutation,
  authorizationFactMutation,
  keyOf,
  stateWith,
} from '../support/authorizations.js';
import { openCard } from '../support/card-record.js';
import { balances, run } from '../support/decisions.js';
import { reloadOf } from '../support/fundings.js';
import { NOW } from '../support/transfers.js';

/** What the items come to one after the other, for a card and a wallet that have so much. */
function after(items: AnyMutation[], card: Partial<Card> = {}, wallet = 0n) {
  const start = stateWith(openCard({ available_minor: 10_000n, ...card }), wallet);
  const { state, outcomes } = run(
    start,
    items.map((item) => [item]),
  );
  const [authorization] = state.records.all(cardAuthorizations);
  if (!authorization) throw new Error('nothing was decided');
  const books = balances(state);
  const of = (account: string) => books.get(account) ?? 0n;
  return {
    authorization,
    card: state.records.get(cards, 'crd_a') as Card,
    verdicts: outcomes.map((outcome) => ('verdict' in outcome ? outcome.verdict : 'decided')),
    postings: [...state.postings.keys()]
      .filter((id) => id !== 'given')
      .map((id) => id.split('/')[1]),
    books: {
      card: of('card:crd_a:available'),
      held: of('card:crd_a:held'),
      wallet: of('wallet:ten_a:available'),
      walletHeld: of('wallet:ten_a:held'),
      network: of('network:sandbox-bank'),
      owed: -of('receivable:ten_a'),
    },
    state,
  };
}

const standing = ({ status, held_minor, cleared_minor }: CardAuthorization) =>
  [status, Number(held_minor), Number(cleared_minor)] as const;

const asked = decideAuthorizationMutation();
const cleared = (minor: bigint, at = 1, key = `c${at}`) =>
  authorizationFactMutation('cleared', { minor, at, key });
const reversed = (at = 2) => authorizationFactMutation('reversed', { at, key: `r${at}` });
const expired = (at = 3) => authorizationFactMutation('expired', { at });
const declined = (at = 1) => authorizationFactMutation('declined', { at });

describe('what becomes of an authorization', () => {
  test('approved: the money is held, of the card or of the wallet', () => {
    const prepaid = after([asked]);
    expect(standing(prepaid.authorization)).toEqual(['approved', 5_000, 0]);
    expect(prepaid.books).toMatchObject({ card: 5_000n, held: 5_000n });
    expect(prepaid.card).toMatchObject({
      available_minor: 5_000n,
      held_minor: 5_000n,
      open_holds: 1,
    });
    expect(prepaid.card.daily_spend).toEqual({ day: '2026-11-21', minor: 5_000n });
    const jit = after([asked], { funding: 'jit', available_minor: 0n }, 8_000n);
    expect(jit.books).toMatchObject({ wallet: 3_000n, walletHeld: 5_000n, card: 0n });
    expect(jit.card).toMatchObject({ held_minor: 0n, open_holds: 1 });
  });

  test('cleared for less, for all, for more: the network gets it, the rest of the hold is free', () => {
    const less = after([asked, cleared(4_200n)]);
    expect(standing(less.authorization)).toEqual(['cleared', 0, 4_200]);
    expect(less.books).toMatchObject({ card: 5_800n, held: 0n, network: 4_200n });
    expect(less.card).toMatchObject({ open_holds: 0 });
    expect(less.card.daily_spend.minor).toBe(4_200n);
    expect(after([asked, cleared(5_000n)]).books).toMatchObject({ card: 5_000n, network: 5_000n });
    const more = after([asked, cleared(6_000n)]);
    expect(more.books).toMatchObject({ card: 4_000n, held: 0n, network: 6_000n, owed: 0n });
  });

  test('what was taken and is not there comes from the wallet, and then the tenant owes it', () => {
    const all = after([asked, cleared(20_000n)], {}, 4_000n);
    expect(all.books).toMatchObject({ card: 0n, wallet: 0n, network: 20_000n, owed: 6_000n });
    expect(all.verdicts.at(-1)).toBe('attention');
    expect(all.authorization.attention?.reason).toContain('owes');
    const back = after([asked, cleared(20_000n), reversed()], {}, 4_000n);
    expect(back.books).toMatchObject({ card: 14_000n, wallet: 0n, network: 0n, owed: 0n });
  });

  test('partial clearings are told apart by their key, repeats are not counted', () => {
    const parts = after([asked, cleared(2_000n, 1), cleared(1_000n, 2), cleared(2_000n, 1)]);
    expect(standing(parts.authorization)).toEqual(['cleared', 0, 3_000]);
    expect(parts.postings).toEqual(['hold', 'clear', 'clear-2']);
    expect(parts.verdicts.at(-1)).toBe('unchanged');
    expect(parts.books).toMatchObject({ card: 7_000n, network: 3_000n });
  });

  test('cleared after it had expired: the money is taken all the same', () => {
    const late = after([asked, expired(1), cleared(5_000n, 2)]);
    expect(standing(late.authorization)).toEqual(['cleared', 0, 5_000]);
    expect(late.books).toMatchObject({ card: 5_000n, network: 5_000n });
    expect(
      after([asked, expired(1), cleared(5_000n, 2)], { available_minor: 5_000n }).books,
    ).toMatchObject({ card: 0n, network: 5_000n, owed: 0n });
  });

  test('a reversal gives back what was taken before it, and nothing of what came after', () => {
    expect(after([asked, cleared(4_200n, 1), reversed(2)]).books).toMatchObject({
      card: 10_000n,
      network: 0n,
    });
    const forced = after([asked, reversed(1), cleared(4_200n, 2)]);
    expect(standing(forced.authorization)).toEqual(['cleared', 0, 4_200]);
    const late = after([asked, reversed(2), cleared(4_200n, 1)]);
    expect(standing(late.authorization)).toEqual(['reversed', 0, 0]);
    expect(late.books).toMatchObject({ card: 10_000n, held: 0n, network: 0n });
  });

  test('declined by the issuer after our approval: the hold is free, and asking again declines', () => {
    const freed = after([asked, declined(), decideAuthorizationMutation({}, { asking: 'second' })]);
    expect(standing(freed.authorization)).toEqual(['declined', 0, 0]);
    expect(freed.books).toMatchObject({ card: 10_000n, held: 0n });
    expect(freed.card).toMatchObject({ open_holds: 0, daily_spend: { minor: 0n } });
  });

  test('what is heard of before it is decided is never approved afterwards', () => {
    for (const first of [declined(), reversed(), expired()]) {
      const { authorization, books } = after([first, asked]);
      expect(standing(authorization)).toEqual(['declined', 0, 0]);
      expect(books).toMatchObject({ card: 10_000n, held: 0n });
    }
    const taken = after([cleared(1_000n), asked]);
    expect(taken.authorization).toMatchObject({ status: 'cleared', approved: false });
    expect(taken.books).toMatchObject({ card: 9_000n, held: 0n, network: 1_000n });
    expect(taken.authorization.attention).not.toBeNull();
  });

  test('what the wallet paid for a payment that nobody asked us for goes back to the wallet', () => {
    const jit = { funding: 'jit', available_minor: 0n } as const;
    const { books } = after([cleared(1_000n, 1), reversed(2)], jit, 4_000n);
    expect(books).toMatchObject({ card: 0n, wallet: 4_000n, network: 0n, owed: 0n });
  });

  test('the day gets back what it was charged for the payment, and no more', () => {
    const spent = (...items: AnyMutation[]) =>
      after([
        asked,
        decideAuthorizationMutation({ token: 'auth_2', amountMinor: 1_000n }),
        ...items,
      ]).card.daily_spend;
    expect(spent(cleared(6_000n, 1)).minor).toBe(6_000n);
    expect(spent(cleared(6_000n, 1), reversed(2)).minor).toBe(1_000n);
    expect(spent(reversed(1), cleared(4_000n, 2)).minor).toBe(5_000n);
    const never = keyOf('auth_3');
    const unasked = [cleared(2_000n, 1), reversed(2)].map((item) => ({ ...item, ...never }));
    expect(spent(...unasked).minor).toBe(6_000n);
  });

  test('a token that an issuer used for another card is declined, and moves nothing', () => {
    const start = stateWith(openCard({ available_minor: 10_000n }), 0n);
    const other = openCard({ _id: 'crd_b', issued: null, available_minor: 0n });
    start.records.set(cards, other);
    const mixedUp = { card: 'crd_b' };
    const { state, outcomes } = run(start, [
      [asked],
      [{ ...decideAuthorizationMutation({}, { asking: 'second' }), ...mixedUp }],
      [{ ...cleared(5_000n), ...mixedUp }],
    ]);
    expect(outcomes[1]).toEqual({ authorization: null });
    expect(outcomes[2]).toMatchObject({ verdict: 'unknown_card' });
    expect(state.records.get(cards, 'crd_b')).toEqual(other);
    expect(state.records.get(cards, 'crd_a')).toMatchObject({ held_minor: 5_000n, open_holds: 1 });
  });

  test('what is given back to a card that is closed goes on to the wallet', () => {
    const closed = {
      status: 'closed',
      available_minor: 0n,
      held_minor: 5_000n,
      open_holds: 1,
    } as const;
    const start = after([asked], { available_minor: 5_000n });
    start.state.records.set(cards, { ...start.card, ...closed });
    const { state } = run(start.state, [[expired()]]);
    const books = balances(state);
    expect(books.get('wallet:ten_a:available')).toBe(5_000n);
    expect(books.get('card:crd_a:available')).toBe(0n);
  });
});

test('taken although the approval was taken back or never heard: an operator has to look', () => {
  const { authorization, verdicts } = after([asked, declined(1), cleared(5_000n, 2)]);
  expect(verdicts).toEqual(['decided', 'applied', 'attention']);
  expect(authorization.attention?.reason).toBe('money was taken that we had not approved');
});

test('declined for want of money, a card tries for its reload: there may be no spending after it', () => {
  const reload = reloadOf({ threshold_minor: 1_000n });
  const { state, authorization } = after(
    [asked],
    { available_minor: 10n, auto_reload: reload },
    8_000n,
  );
  expect(standing(authorization)).toEqual(['declined', 0, 0]);
  const [operation] = state.records.all(cardOperations);
  expect(operation).toMatchObject({ type: 'auto_reload', status: 'pending' });
  expect(state.records.get(cards, 'crd_a')?.auto_reload?.operation_id).toBe(operation?._id);
});

describe('an asking', () => {
  const takenBack = (asking: string): Named<'applyCardAuthorizationFact'> => ({
    ...authorizationFactMutation('declined', { key: `voided-${asking}` }),
    code: 'deadline_exceeded',
    by: { withdraws: asking, request: asked.request },
  });

  test('that comes too late is declined, and remembered so', () => {
    const tooLate = decideAuthorizationMutation({}, { answerBy: new Date(NOW.getTime() - 1) });
    const { authorization, books } = after([
      tooLate,
      decideAuthorizationMutation({}, { asking: 'second' }),
    ]);
    expect(authorization).toMatchObject({ status: 'declined', code: 'deadline_exceeded' });
    expect(books).toMatchObject({ card: 10_000n, held: 0n });
  });

  test('that was answered with a decline takes back what it has committed', () => {
    const { authorization, books } = after([asked, takenBack('first')]);
    expect(standing(authorization)).toEqual(['declined', 0, 0]);
    expect(books).toMatchObject({ card: 10_000n, held: 0n });
  });

  test('takes nothing back once a later one answers for it', () => {
    const again = decideAuthorizationMutation({}, { asking: 'second' });
    const { authorization, verdicts } = after([asked, again, takenBack('first')]);
    expect(standing(authorization)).toEqual(['approved', 5_000, 0]);
    expect(verdicts.at(-1)).toBe('unchanged');
  });

  test('that was never committed is remembered as declined', () => {
    const { authorization } = after([
      takenBack('first'),
      decideAuthorizationMutation({}, { asking: 'second' }),
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
  // Two things at one moment have no order.
  selector: ({ fact: { at } }) => at.getTime(),
});

describe('in whatever order the issuer is heard, however often', () => {
  test('an authorization stands the same in the end, and all books agree', () => {
    fc.assert(
      fc.property(facts, fc.infiniteStream(fc.nat()), fc.boolean(), (inOrder, random, jit) => {
        const card = jit ? ({ funding: 'jit', available_minor: 0n } as const) : {};
        const shuffled = [...inOrder, ...inOrder]
          .map((item) => [random.next().value as number, item] as const)
          .toSorted(([a], [b]) => a - b)
          .map(([, item]) => item);
        const wanted = after([asked, ...inOrder], card, 10_000n);
        const found = after([asked, ...shuffled], card, 10_000n);
        expect(standing(found.authorization)).toEqual(standing(wanted.authorization));
        for (const { authorization, card: stored, books, state } of [wanted, found]) {
          expect(books.network).toBe(authorization.cleared_minor);
          expect(books.held + books.walletHeld).toBe(authorization.held_minor);
          expect([stored.available_minor, stored.held_minor]).toEqual([books.card, books.held]);
          expect(stored.open_holds).toBe(authorization.held_minor > 0n ? 1 : 0);
          expect(state.wallets.get('ten_a')).toMatchObject({
            availableMinor: books.wallet,
            owedMinor: books.owed,
          });
          expect(books.card >= 0n && books.wallet >= 0n && books.owed >= 0n).toBe(true);
          // Nothing is made and nothing is lost.
          const all = books.card + books.held + books.wallet + books.walletHeld - books.owed;
          expect(all + books.network).toBe(jit ? 10_000n : 20_000n);
        }
      }),
    );
  });

  test('payments never hold more than there is, nor more than the day allows', () => {
    const amounts = fc.array(fc.bigInt({ min: 1n, max: 6_000n }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(amounts, fc.boolean(), (list, limited) => {
        const security = { ...OPEN_SECURITY, daily_limit_minor: limited ? 7_000n : null };
        const items = list.map((amountMinor, n) =>
          decideAuthorizationMutation({ token: `auth_${n}`, amountMinor }),
        );
        const start = stateWith(openCard({ available_minor: 10_000n, security }));
        const { state } = run(start, [items]);
        const held = balances(state).get('card:crd_a:held') ?? 0n;
        expect(held <= (limited ? 7_000n : 10_000n)).toBe(true);
        expect(state.records.get(cards, 'crd_a')?.available_minor).toBe(10_000n - held);
      }),
    );
  });
});
