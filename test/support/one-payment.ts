import { cardAuthorizations } from '../../src/capabilities/card-authorizations/record.js';
import { cards, type Card } from '../../src/capabilities/cards/record.js';
import {
  authorizationFactMutation,
  decideAuthorizationMutation,
  stateWith,
  TERMS,
} from './authorizations.js';
import { openCard } from './card-record.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import { balances, run } from './decisions.js';
import { bookProblems } from './authorization-books.js';
import type { AnyMutation } from './mutations.js';
import { storedPostings } from './stored-postings.js';
import { NOW } from './transfers.js';

/** One payment after these mutations in sequence: the record, its card, and the sums of the ledger. */
export function after(mutations: AnyMutation[], card: Partial<Card> = {}, walletMinor = 0n) {
  const start = stateWith(openCard({ available_minor: 10_000n, ...card }), walletMinor);
  const { state, outcomes, commits } = run(
    start,
    mutations.map((mutation) => [mutation]),
  );
  const [one] = state.records.all(cardAuthorizations);
  if (!one) throw new Error('nothing was decided');
  const ledger = balances(state);
  const of = (account: string) => ledger.get(account) ?? 0n;
  return {
    one,
    state,
    outcomes,
    events: commits.flatMap(({ events }) => events.map(({ name }) => name)),
    card: state.records.get(cards, 'crd_a') as Card,
    ledger: {
      card: of('card:crd_a:available'),
      held: of('card:crd_a:held'),
      wallet: of('wallet:ten_a:available'),
      walletHeld: of('wallet:ten_a:held'),
      network: of('network:sandbox-bank'),
      owed: -of('receivable:ten_a'),
    },
  };
}

/** The postings of a payment after these commits. */
export const postingsOf = (state: Snapshot, id: string) =>
  storedPostings([...state.postings.values()].filter((each) => each.id.startsWith(`${id}/`)));

/** Money is where the postings say, nothing is below zero, and nothing appears or vanishes. */
export function checkBooks(state: Snapshot): void {
  const books = balances(state);
  const of = (account: string) => books.get(account) ?? 0n;
  const card = state.records.get(cards, 'crd_a');
  const wallet = state.wallets.get('ten_a');
  expect(card?.available_minor).toBe(of('card:crd_a:available'));
  expect(card?.held_minor).toBe(of('card:crd_a:held'));
  expect(wallet?.availableMinor).toBe(of('wallet:ten_a:available'));
  expect(wallet?.receivableMinor).toBe(-of('receivable:ten_a'));
  expect((card?.available_minor ?? -1n) >= 0n && (wallet?.availableMinor ?? -1n) >= 0n).toBe(true);
  expect([...books.values()].reduce((sum, each) => sum + each, 0n)).toBe(0n);
  const sum = { held: 0n, taken: 0n };
  for (const one of state.records.all(cardAuthorizations)) {
    sum.held += one.held_minor;
    sum.taken += one.cleared_minor - one.refunded_minor;
    const funding = card?.funding ?? 'prepaid';
    const postings = postingsOf(state, one._id);
    expect(bookProblems({ one, postings, funding, tolerance: TERMS })).toEqual([]);
  }
  expect(of('card:crd_a:held') + of('wallet:ten_a:held')).toBe(sum.held);
  expect(of('network:sandbox-bank')).toBe(sum.taken);
}

/** A time this many seconds after `NOW`. */
export const seconds = (at: number) => new Date(NOW.getTime() + at * 1_000);

/** A message of the payment; `at` is the time of its request. */
export const message = (messageId: string, amountMinor: bigint, at = 0) =>
  decideAuthorizationMutation({ messageId, amountMinor, requestedAt: seconds(at) });
/** A report of the issuer at this second. */
export const fact = (
  kind: Parameters<typeof authorizationFactMutation>[0],
  at: number,
  more: Parameters<typeof authorizationFactMutation>[1] = {},
) => authorizationFactMutation(kind, { at, key: `${kind}-${at}`, ...more });
/** A clearing at this second. */
export const cleared = (minor: bigint, at: number, partial = false) =>
  fact('cleared', at, { minor, partial });
