import { cardOperations } from '../../src/capabilities/cards/card-operation.js';
import { type AnyMutation } from '../support/mutations.js';
import { cards, type Card, type AutoReload } from '../../src/capabilities/cards/record.js';
import { changeCard } from '../../src/capabilities/cards/mutations.js';
import type { FundingFact } from '../../src/capabilities/card-fundings/transitions.js';
import {
  createUnitOfWork,
  type Snapshot,
  type Writes,
} from '../../src/core/commit/unit-of-work.js';
import { lagosDay, type Wallet } from '../../src/core/ledger/wallet.js';
import { apply, run } from '../support/decisions.js';
import { CARD, openCard } from '../support/card-record.js';
import { reloadOf, snapshotWith } from '../support/fundings.js';
import { byProvider, NOW } from '../support/transfers.js';

/** A wallet and a card whose reload is on: below 100 it gets 500, 1,000 a day. */
const start = (
  { wallet = 5_000n, available = 300n }: { wallet?: bigint; available?: bigint } = {},
  reload: Partial<AutoReload> = {},
  card: Partial<Card> = {},
) =>
  snapshotWith(
    wallet,
    openCard({ available_minor: available, auto_reload: reloadOf(reload), ...card }),
  );

const cardIn = (state: Snapshot): Card => state.records.get(cards, CARD) as Card;
const reloadsIn = (state: Snapshot) =>
  state.records.all(cardOperations).filter(({ type }) => type === 'auto_reload');

/** Lowers the card's balance by the function that every kind of spending uses. */
function spending(state: Snapshot, amountMinor: bigint, now = NOW): Writes {
  const uow = createUnitOfWork(state, now);
  const card = cardIn(state);
  changeCard(uow, card, { available_minor: card.available_minor - amountMinor }, now);
  return uow.writes();
}

const spend = (state: Snapshot, amountMinor: bigint, now = NOW) =>
  apply(state, spending(state, amountMinor, now));

const spendings = (state: Snapshot, ...amounts: bigint[]) =>
  amounts.reduce((before, amount) => spend(before, amount), state);

/** Ends the open reload with this outcome. */
function end(state: Snapshot, kind: 'succeeded' | 'rejected'): Snapshot {
  const id = String(cardIn(state).auto_reload?.operation_id);
  const fact: FundingFact =
    kind === 'succeeded'
      ? { ...byProvider, kind, amountMinor: null, sessionId: null }
      : { ...byProvider, kind, code: 'funding_refused' };
  return commit(state, { kind: 'applyCardFundingFact', tenantId: 'ten_a', id, card: CARD, fact });
}

const commit = (state: Snapshot, mutation: AnyMutation) => run(state, [[mutation]]).state;

const put = (state: Snapshot, changes: Partial<AutoReload> = {}) => {
  const { enabled, threshold_minor, amount_minor, daily_cap_minor } = reloadOf(changes);
  const settings = { enabled, threshold_minor, amount_minor, daily_cap_minor };
  return commit(state, { kind: 'setAutoReload', tenantId: 'ten_a', id: CARD, settings });
};

test('the spending that leaves less than the threshold reloads, with its hold, in its own commit', () => {
  const above = spend(start(), 200n);
  expect(reloadsIn(above)).toEqual([]);
  const below = spend(above, 1n);
  const [reload] = reloadsIn(below);
  expect(reload).toMatchObject({ status: 'pending', amount_minor: 500n, card_id: CARD });
  expect(reload?.timeline).toMatchObject([{ type: 'accepted', actor: 'bursar' }]);
  expect(below.postings.has(`${reload?._id}/hold`)).toBe(true);
  expect(below.wallets.get('ten_a')?.availableMinor).toBe(4_500n);
  expect(cardIn(below).auto_reload).toMatchObject({ operation_id: reload?._id, triggered: true });
});

test('a fall has one reload, however much is spent in it, and however little it brings', () => {
  const under = spendings(start({}, { amount_minor: 50n }), 250n, 10n, 10n);
  expect(reloadsIn(under)).toHaveLength(1);
  // Reloaded, and still below.
  const still = spendings(end(under, 'succeeded'), 10n, 10n);
  expect(cardIn(still).available_minor).toBeLessThan(100n);
  expect(reloadsIn(still)).toHaveLength(1);
});

test('the fall ends at the threshold: the next one has a reload of its own', () => {
  const first = end(spend(start(), 250n), 'succeeded');
  expect(cardIn(first).auto_reload).toMatchObject({
    triggered: false,
    operation_id: null,
    refusals: 0,
  });
  expect(reloadsIn(spend(first, 500n))).toHaveLength(2);
});

test('no more than the daily cap, and that is no refusal: the next day has a cap of its own', () => {
  const state = start(
    {},
    { daily_cap_minor: 900n, limit_day: lagosDay(NOW), limit_used_minor: 500n },
  );
  const capped = spendings(state, 250n, 1n, 1n, 1n);
  expect(reloadsIn(capped)).toEqual([]);
  expect(cardIn(capped).auto_reload).toMatchObject({
    refusals: 0,
    triggered: false,
    attention: null,
  });
  const tomorrow = new Date(NOW.getTime() + 24 * 60 * 60 * 1000);
  expect(reloadsIn(spend(capped, 1n, tomorrow))).toHaveLength(1);
});

test('no more than the wallet has: refused without a hold', () => {
  const poor = spend(start({ wallet: 499n }), 250n);
  expect(poor.postings.size).toBe(0);
  expect(cardIn(poor).auto_reload).toMatchObject({ refusals: 1, triggered: false });
});

test('no reload while the tenant is frozen, and that is no refusal: the next spending after the freeze reloads', () => {
  const before = start();
  const wallet = before.wallets.get('ten_a') as Wallet;
  before.wallets.set('ten_a', { ...wallet, isFrozen: true });
  const frozen = spend(before, 250n);
  expect(reloadsIn(frozen)).toEqual([]);
  expect(frozen.wallets.get('ten_a')?.availableMinor).toBe(wallet.availableMinor);
  expect(cardIn(frozen).auto_reload).toEqual(reloadOf());
  frozen.wallets.set('ten_a', wallet);
  expect(reloadsIn(spend(frozen, 1n))).toHaveLength(1);
});

test('after three refusals in a row the card is not reloaded until its settings are set again', () => {
  const refused = spendings(start({ wallet: 0n }), 250n, 1n, 1n);
  expect(cardIn(refused).auto_reload?.refusals).toBe(3);
  expect(cardIn(refused).auto_reload?.attention?.reason).toMatch(/3 times in a row.*too little/);
  const rich = { ...refused, wallets: start().wallets };
  expect(reloadsIn(spend(rich, 1n))).toEqual([]);
  const again = put(rich);
  expect(cardIn(again).auto_reload).toMatchObject({ refusals: 0, attention: null });
  expect(reloadsIn(again)).toHaveLength(1);
});

test('the stop after refusals is one event of the card; after the settings are saved again, another one', () => {
  let state = start({ wallet: 0n });
  const emitted: unknown[] = [];
  const spendAgain = (amountMinor: bigint) => {
    const writes = spending(state, amountMinor);
    emitted.push(writes.events.map(({ name, sequence, data }) => [name, sequence, data]));
    state = apply(state, writes);
  };
  const attention = { reason: expect.stringContaining('3 times in a row') as string };
  const stop = (sequence: number) => [
    'card.auto_reload.stopped',
    sequence,
    expect.objectContaining({
      card_id: CARD,
      refusals: 3,
      attention: expect.objectContaining(attention) as object,
    }),
  ];
  [250n, 1n, 1n, 1n].forEach(spendAgain);
  expect(emitted.splice(0)).toEqual([[], [], [stop(1)], []]);
  // The settings themselves are the first attempt.
  state = put(state);
  [1n, 1n].forEach(spendAgain);
  expect(emitted).toEqual([[], [stop(2)]]);
  expect(cardIn(state).event_sequence).toBe(2);
});

test('a stop by refusals of the issuer is the same event', () => {
  const state = spend(start({}, { refusals: 2 }), 250n);
  const id = String(cardIn(state).auto_reload?.operation_id);
  const fact = { ...byProvider, kind: 'rejected', code: 'funding_refused' } as const;
  const key = { tenantId: 'ten_a', id, card: CARD };
  const { commits } = run(state, [[{ kind: 'applyCardFundingFact', ...key, fact }]]);
  const names = commits.flatMap(({ events }) => events.map(({ name }) => name));
  expect(names.toSorted()).toEqual(['card.auto_reload.stopped', 'card.operation.failed']);
});

test('a reload that the issuer refuses counts as refused and restores the cap, and the next spending triggers another one', () => {
  let state = start({}, { daily_cap_minor: 500n });
  for (let i = 1; i <= 3; i += 1) {
    state = spend(state, i === 1 ? 250n : 1n);
    expect(reloadsIn(state)).toHaveLength(i);
    state = end(state, 'rejected');
    expect(cardIn(state).auto_reload).toMatchObject({
      refusals: i,
      limit_used_minor: 0n,
      triggered: false,
    });
  }
  expect(reloadsIn(spend(state, 1n))).toHaveLength(3);
  expect(state.wallets.get('ten_a')?.availableMinor).toBe(5_000n);
});

test('settings on a card below its threshold reload it; the same settings again do not', () => {
  const empty = snapshotWith(5_000n, openCard());
  const once = put(empty);
  expect(reloadsIn(once)).toHaveLength(1);
  expect(reloadsIn(put(put(once)))).toHaveLength(1);
});

test.each([
  ['switched off', { enabled: false }, {}],
  ['a locked card', {}, { status: 'locked' }],
  ['a card that is over', {}, { status: 'closed' }],
] as const)('%s: none', (_, reload, card) => {
  expect(reloadsIn(spend(start({}, reload, card), 250n))).toEqual([]);
});
