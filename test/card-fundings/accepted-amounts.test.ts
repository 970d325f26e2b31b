import fc from 'fast-check';
import type { FundingFact } from '../../src/capabilities/card-fundings/transitions.js';
import { fundReversalIdOf } from '../../src/capabilities/card-fundings/transitions.js';
import { cardOperations, type CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { cards } from '../../src/capabilities/cards/record.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import { accounts } from '../../src/core/ledger/posting.js';
import { CARD, openCard } from '../support/card-record.js';
import { balances, run } from '../support/decisions.js';
import { pendingFunding, snapshotWith } from '../support/fundings.js';
import type { AnyMutation } from '../support/mutations.js';
import { byProvider, NOW } from '../support/transfers.js';

/** In kobo: the wallet before, and the funding. */
const START = 2_000n;
const AMOUNT = 300n;
const ID = 'cop_a';

const funded = (amountMinor = AMOUNT): FundingFact => ({
  ...byProvider,
  kind: 'succeeded',
  amountMinor,
  sessionId: null,
});
const reversed = (amountMinor = AMOUNT): FundingFact => ({
  ...byProvider,
  kind: 'reversed',
  amountMinor,
  sessionId: null,
});
const refused: FundingFact = { ...byProvider, kind: 'rejected', code: 'funding_refused' };
const forced: FundingFact = { ...refused, via: 'operator', code: 'operator' };
const confirmed: FundingFact = { ...byProvider, via: 'operator', kind: 'operator_confirmed' };
const accepted = (amountMinor: bigint): FundingFact => ({
  ...byProvider,
  via: 'operator',
  kind: 'operator_confirmed',
  amountMinor,
  sessionId: null,
});

const accept = (changes: Partial<CardOperation> = {}): AnyMutation => ({
  kind: 'acceptCardFunding',
  tenantId: 'ten_a',
  operation: pendingFunding({
    _id: ID,
    amount_minor: AMOUNT,
    status: 'processing',
    submissions: 1,
    ...changes,
  }),
  claim: null,
  answer: { status: 201, body: ID },
});
const expire: AnyMutation = { kind: 'expireCardFunding', tenantId: 'ten_a', id: ID, card: CARD };
const apply = (fact: FundingFact): AnyMutation => ({
  kind: 'applyCardFundingFact',
  tenantId: 'ten_a',
  id: ID,
  card: CARD,
  fact,
});

const ACCEPTED = run(snapshotWith(START, openCard()), [[accept()]]).state;

/** Applies facts one after another. */
function after(facts: readonly FundingFact[], from: Snapshot = ACCEPTED) {
  const { state, outcomes } = run(
    from,
    facts.map((fact) => [apply(fact)]),
  );
  return {
    state,
    verdicts: outcomes.flatMap((each) => ('verdict' in each ? [each.verdict] : [])),
    operation: state.records.get(cardOperations, ID),
    onCard: state.records.get(cards, CARD)?.available_minor,
    wallet: state.wallets.get('ten_a')?.availableMinor,
    suspense: balances(state).get(accounts.suspense) ?? 0n,
    steps: [...state.postings.keys()].map((id) => id.slice(id.indexOf('/') + 1)),
  };
}

/** The same state after the customer has spent all but this. */
function spentTo(state: Snapshot, leftMinor: bigint): Snapshot {
  const card = state.records.get(cards, CARD);
  state.records.set(cards, openCard({ ...card, available_minor: leftMinor }));
  return state;
}

describe('an open funding of which the issuer reports another amount', () => {
  test.each([
    [200n, START - 200n, 0n],
    [350n, START - AMOUNT, -50n],
  ])(
    'with %d: an operator accepts it, once, the card has it, and the difference goes where it belongs',
    (amount, wallet, suspense) => {
      const waiting = after([funded(amount)]);
      expect([waiting.verdicts, waiting.onCard]).toEqual([['attention'], 0n]);
      const all = after([funded(amount), accepted(amount), accepted(amount)]);
      expect(all.verdicts).toEqual(['attention', 'applied', 'stale']);
      expect(all.operation).toMatchObject({
        status: 'completed',
        attention: null,
        settled_amount_minor: amount,
      });
      expect([all.onCard, all.wallet, all.suspense]).toEqual([amount, wallet, suspense]);
      expect(all.steps).toEqual(['hold', 'resolve']);
      const back = after([funded(amount), accepted(amount), reversed(amount)]);
      expect([back.onCard, back.wallet, back.suspense]).toEqual([0n, START, 0n]);
    },
  );
});

test('a failed funding whose issuer has funded less is accepted with that amount, and a wallet that has it owes nothing', () => {
  const { state } = after([forced, funded(200n)]);
  const wallet = state.wallets.get('ten_a');
  if (!wallet) throw new Error('there is no wallet');
  state.wallets.set('ten_a', { ...wallet, availableMinor: 250n });
  const all = after([accepted(200n)], state);
  expect([all.operation?.attention, all.onCard, all.wallet]).toEqual([null, 200n, 50n]);
});

test('a completed funding that its issuer contradicts moves no money, whatever an operator commands', () => {
  for (const contradiction of [refused, reversed(100n), funded(200n)]) {
    const all = after([funded(), contradiction, forced, accepted(200n)]);
    expect(all).toMatchObject({ onCard: AMOUNT, wallet: START - AMOUNT });
    expect(all.steps).toEqual(['hold', 'resolve']);
    expect(all.operation?.attention).not.toBeNull();
  }
});

test('a reversal of more than was ordered returns first the part of suspense; the spent part stays spent', () => {
  const { state } = after([funded(500n), accepted(500n)]);
  const all = after([reversed(500n)], spentTo(state, 300n));
  expect([all.onCard, all.suspense, all.wallet]).toEqual([0n, 0n, START - 200n]);
});

test('a late funding whose issuer has taken another amount back releases its hold by a forced fail', () => {
  const late = run(snapshotWith(START, openCard()), [
    [accept({ type: 'jit_fund', deadline_at: NOW })],
    [expire],
  ]).state;
  const all = after([reversed(150n), forced], late);
  expect(all.verdicts).toEqual(['attention', 'applied']);
  expect(all.state.records.get(cardOperations, fundReversalIdOf(ID))).toMatchObject({
    status: 'failed',
    attention: null,
  });
  expect([all.onCard, all.wallet, all.steps]).toEqual([0n, START, ['hold', 'resolve']]);
});

test('whatever the issuer and operators say in whatever order, the money of a funding is in one place, and the books are those of its state', () => {
  const amounts = [200n, AMOUNT, 350n];
  const asked = (fact: FundingFact): FundingFact => ({
    ...fact,
    via: 'poll',
    askedMs: NOW.getTime() + 1,
  });
  const fact = fc.oneof(
    ...[refused, asked(refused), forced, confirmed, asked(funded())].map((each) =>
      fc.constant(each),
    ),
    ...[funded, accepted, reversed].map((make) => fc.constantFrom(...amounts).map(make)),
  );
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 20 }), (facts) => {
      const { state, operation, onCard, wallet } = after(facts);
      const sums = balances(state);
      const balance = (account: string) => sums.get(account) ?? 0n;
      expect(onCard).toBe(balance(accounts.cardAvailable(CARD)));
      expect(onCard).toBeGreaterThanOrEqual(0n);
      expect(wallet).toBe(START + balance(accounts.available('ten_a')));
      const isHeld = operation?.status === 'processing';
      expect(balance(accounts.held('ten_a'))).toBe(isHeld ? AMOUNT : 0n);
      expect([...sums.values()].reduce((sum, each) => sum + each, 0n)).toBe(0n);
      const settled = operation?.settled_amount_minor ?? AMOUNT;
      expect(onCard).toBe(operation?.status === 'completed' ? settled : 0n);
      expect(balance(accounts.clearing('sandbox-bank'))).toBe(
        operation?.in_suspense ? settled : 0n,
      );
    }),
    { numRuns: 1_000 },
  );
});
