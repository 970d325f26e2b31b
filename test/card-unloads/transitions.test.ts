import fc from 'fast-check';
import { unloadAgrees } from '../../src/capabilities/card-unloads/comparison.js';
import { cards } from '../../src/capabilities/cards/record.js';
import { cardOperations, newOperation } from '../../src/capabilities/cards/card-operation.js';
import type { InstructionFact } from '../../src/core/instructions/fact.js';
import { accounts, posting } from '../../src/core/ledger/posting.js';
import { balances, run } from '../support/decisions.js';
import { stateWith } from '../support/authorizations.js';
import { CARD, openCard } from '../support/card-record.js';
import type { AnyMutation } from '../support/mutations.js';
import { byProvider, NOW } from '../support/transfers.js';

const AMOUNT = 1_000n;
const WALLET = 300n;

/** A closed card whose balance is being unloaded. */
function unloading() {
  const card = openCard({
    status: 'closed',
    held_minor: AMOUNT,
    unload: { operation_id: 'cop_u', failed_operation_id: null, transaction_reference: null },
  });
  const state = stateWith(card, WALLET);
  const given = { _id: 'cop_u', tenant_id: 'ten_a', card_id: CARD, provider: 'sandbox-bank' };
  const operation = { ...given, type: 'unload', amount_minor: AMOUNT, submissions: 1 } as const;
  state.records.set(cardOperations, newOperation(operation, NOW, 'held'));
  const hold = posting('cop_u/hold', 'ten_a', NOW, [
    { account: accounts.external, amountMinor: -AMOUNT },
    { account: accounts.cardHeld(CARD), amountMinor: AMOUNT },
  ]);
  state.postings.set(hold.id, hold);
  return state;
}

const facts: fc.Arbitrary<InstructionFact> = fc.oneof(
  fc
    .constantFrom(null, AMOUNT, 400n, 1n, 2_000n, 0n)
    .map((amountMinor) => ({ ...byProvider, kind: 'succeeded', amountMinor, sessionId: null })),
  fc.constantFrom('webhook' as const, 'operator' as const).map((via) => ({
    ...byProvider,
    via,
    kind: 'rejected',
    code: 'funding_refused',
  })),
  fc
    .tuple(
      fc.constantFrom(null, AMOUNT, 400n, 300n),
      fc.constantFrom('webhook' as const, 'operator' as const),
    )
    .map(([amountMinor, via]) => ({
      ...byProvider,
      via,
      kind: 'reversed',
      amountMinor,
      sessionId: null,
    })),
  fc.constant({ ...byProvider, kind: 'operator_confirmed' } as const),
) as fc.Arbitrary<InstructionFact>;

const applied = (fact: InstructionFact): AnyMutation => ({
  kind: 'applyCardUnloadFact',
  tenantId: 'ten_a',
  id: 'cop_u',
  card: CARD,
  fact,
});

test('after any facts the card and the wallet have what their postings say, and the wallet never has money without proof', () => {
  fc.assert(
    fc.property(fc.array(facts, { maxLength: 6 }), (sequence) => {
      const { state } = run(
        unloading(),
        sequence.map((fact) => [applied(fact)]),
      );
      const card = state.records.get(cards, CARD);
      const operation = state.records.get(cardOperations, 'cop_u');
      const wallet = state.wallets.get('ten_a');
      const books = balances(state);
      expect(card?.available_minor).toBe(books.get(accounts.cardAvailable(CARD)) ?? 0n);
      expect(card?.held_minor).toBe(books.get(accounts.cardHeld(CARD)) ?? 0n);
      expect(wallet?.availableMinor).toBe(books.get(accounts.available('ten_a')));
      const open = operation?.status === 'pending';
      expect(card?.held_minor).toBe(open ? AMOUNT : 0n);
      if (operation?.status !== 'completed') expect(wallet?.availableMinor).toBe(WALLET);
      expect([...books.values()].reduce((sum, each) => sum + each, 0n)).toBe(0n);
    }),
  );
});

test.each([
  ['the whole', AMOUNT, 300n],
  ['a part', 400n, 1_000n],
])(
  'after %s was given back, a reversal of another amount moves no money and calls an operator',
  (_, givenMinor, reversedMinor) => {
    const moved = (kind: 'succeeded' | 'reversed', amountMinor: bigint) =>
      applied({ ...byProvider, kind, amountMinor, sessionId: null });
    const given = run(unloading(), [[moved('succeeded', givenMinor)]]).state;
    const other = run(given, [[moved('reversed', reversedMinor)]]).state;
    expect(balances(other)).toEqual(balances(given));
    expect(other.records.get(cardOperations, 'cop_u')).toMatchObject({
      status: 'completed',
      attention: { reason: 'the issuer reversed another amount than it gave back' },
    });
    const whole = run(other, [[moved('reversed', givenMinor)]]).state;
    expect(balances(whole).get(accounts.available('ten_a'))).toBe(WALLET);
  },
);

describe('a part of a completed unloading that its issuer takes back', () => {
  const unloaded = () => run(unloading(), [[reported('succeeded', AMOUNT)]]).state;
  const backAs = (via: 'webhook' | 'operator', amountMinor: bigint) =>
    applied({ ...byProvider, via, kind: 'reversed', amountMinor, sessionId: null });
  /** The operator's act, after the issuer has confirmed that it took back this much. */
  const retry = (amountMinor: bigint | null, version = 3): AnyMutation => ({
    kind: 'retryCardUnload',
    tenantId: 'ten_a',
    card: CARD,
    actor: 'operator',
    reason: 'asked',
    asked: {
      id: 'cop_u',
      version,
      fact: amountMinor === null ? null : confirmed(amountMinor),
    },
  });
  const confirmed = (amountMinor: bigint): InstructionFact => ({
    ...byProvider,
    via: 'operator',
    kind: 'reversed',
    amountMinor,
    sessionId: null,
  });
  const seen = (state: ReturnType<typeof unloading>) => {
    const books = balances(state);
    const { status, attention, settled_amount_minor, taken_back_minor } =
      state.records.get(cardOperations, 'cop_u') ?? {};
    return {
      wallet: books.get(accounts.available('ten_a')),
      card: books.get(accounts.cardAvailable(CARD)) ?? 0n,
      held: books.get(accounts.cardHeld(CARD)) ?? 0n,
      status,
      called: attention !== null,
      settled: settled_amount_minor ?? null,
      taken: taken_back_minor ?? null,
    };
  };

  test('is booked and unloaded once more by the act of an operator, once', () => {
    const doubted = run(unloaded(), [[backAs('webhook', 500n)]]).state;
    const whole = { wallet: WALLET + AMOUNT, card: 0n, held: 0n, settled: null, taken: null };
    expect(seen(doubted)).toEqual({ ...whole, status: 'completed', called: true });
    const once = run(doubted, [[retry(500n)]]);
    const part = { wallet: WALLET + 500n, settled: 500n, taken: 500n, called: false };
    expect(seen(once.state)).toEqual({ ...part, card: 0n, held: 500n, status: 'completed' });
    expect(once.outcomes).toMatchObject([{ done: true }]);
    const next = once.state.records.get(cards, CARD)?.unload.operation_id;
    expect(once.state.records.get(cardOperations, String(next))).toMatchObject({
      amount_minor: 500n,
      status: 'pending',
    });
    // Half of it, so that a repeat could be taken for the reversal of the rest.
    const again = run(once.state, [[retry(500n)], [retry(500n, 5)], [backAs('webhook', 500n)]]);
    expect(seen(again.state)).toEqual(seen(once.state));
    expect(balances(again.state)).toEqual(balances(once.state));
  });

  test('is not booked if the issuer denies it: the attention ends, and no money moves', () => {
    const doubted = run(unloaded(), [[backAs('webhook', 400n)]]).state;
    const { state, outcomes } = run(doubted, [[retry(null)]]);
    expect(balances(state)).toEqual(balances(doubted));
    expect(seen(state)).toMatchObject({ status: 'completed', called: false, taken: null });
    expect(outcomes).toMatchObject([{ done: true }]);
  });

  test('is not booked if the unloading has changed since its issuer was asked', () => {
    const doubted = run(unloaded(), [[backAs('webhook', 400n)]]).state;
    const { state, outcomes } = run(doubted, [[retry(400n, 2)]]);
    expect(seen(state)).toEqual(seen(doubted));
    expect(outcomes).toMatchObject([{ done: false }]);
  });

  test('keeps its attention if the card is unloaded again without a question to the issuer', () => {
    const less = run(unloading(), [[reported('succeeded', 600n)]]).state;
    const doubted = run(less, [[backAs('webhook', 100n)]]).state;
    const again: AnyMutation = {
      kind: 'retryCardUnload',
      tenantId: 'ten_a',
      card: CARD,
      actor: 'operator',
      reason: 'the rest',
    };
    const { state, outcomes } = run(doubted, [[again]]);
    expect(outcomes).toMatchObject([{ done: true }]);
    expect(seen(state)).toMatchObject({ called: true, settled: 600n, taken: null, held: 400n });
  });

  test('keeps its attention if another part is taken back between the question and the act', () => {
    const doubted = run(unloaded(), [[backAs('webhook', 400n)]]).state;
    const version = doubted.records.get(cardOperations, 'cop_u')?.version;
    const further = run(doubted, [[backAs('webhook', 700n)], [backAs('webhook', 700n)]]).state;
    const { state, outcomes } = run(further, [[retry(400n, version)]]);
    expect(outcomes).toMatchObject([{ done: false }]);
    expect(seen(state)).toEqual(seen(doubted));
    const again = run(state, [[retry(700n, (version ?? 0) + 1)]]);
    expect(again.outcomes).toMatchObject([{ done: true }]);
    expect(seen(again.state)).toMatchObject({ called: false, taken: 700n, wallet: WALLET + 300n });
  });

  test('is not in doubt by an older message about it, but by a lower answer', () => {
    const steps = [[backAs('webhook', 400n)], [backAs('operator', 700n)]];
    const booked = run(unloaded(), steps).state;
    const late = run(booked, [[backAs('webhook', 400n)]]).state;
    expect(late.records.get(cardOperations, 'cop_u')).toEqual(
      booked.records.get(cardOperations, 'cop_u'),
    );
    const answer = { ...byProvider, via: 'poll', kind: 'reversed', amountMinor: 400n } as const;
    const lower = run(booked, [[applied({ ...answer, sessionId: null })]]).state;
    expect(seen(lower)).toEqual({ ...seen(booked), called: true });
  });

  test('agrees with the whole amount of the issuer once the rest is taken back too', () => {
    const steps = [[backAs('webhook', 400n)], [backAs('operator', 400n)]];
    const { state } = run(unloaded(), [...steps, [backAs('webhook', AMOUNT)]]);
    const operation = state.records.get(cardOperations, 'cop_u');
    if (!operation) throw new Error('there is no unloading');
    expect(operation).toMatchObject({ status: 'failed', settled_amount_minor: 600n });
    const back = { kind: 'reversed', sessionId: null, providerRequestId: null } as const;
    expect(unloadAgrees(operation, { ...back, amountMinor: AMOUNT })).toBe(true);
    expect(unloadAgrees(operation, { ...back, amountMinor: 400n })).toBe(false);
  });

  test('may be followed by another part, and by the rest', () => {
    const first = run(unloaded(), [[backAs('webhook', 400n)], [backAs('operator', 400n)]]).state;
    expect(seen(first)).toMatchObject({ wallet: WALLET + 600n, card: 400n, taken: 400n });
    const second = run(first, [[backAs('webhook', 700n)], [backAs('operator', 700n)]]).state;
    expect(seen(second)).toMatchObject({ wallet: WALLET + 300n, card: 700n, settled: 300n });
    const rest = run(second, [[backAs('webhook', AMOUNT)]]).state;
    expect(seen(rest)).toMatchObject({ wallet: WALLET, card: AMOUNT, status: 'failed' });
    const late = run(second, [[reported('succeeded', AMOUNT)], [reported('succeeded', 300n)]]);
    expect(seen(late.state)).toEqual(seen(second));
  });

  test('leaves a receivable if the wallet lacks it', () => {
    const spent = unloaded();
    const wallet = spent.wallets.get('ten_a');
    if (!wallet) throw new Error('there is no wallet');
    const left = posting('spent', 'ten_a', NOW, [
      { account: accounts.available('ten_a'), amountMinor: 100n - wallet.availableMinor },
      { account: accounts.external, amountMinor: wallet.availableMinor - 100n },
    ]);
    spent.postings.set(left.id, left);
    spent.wallets.set('ten_a', { ...wallet, availableMinor: 100n });
    const { state } = run(spent, [[backAs('operator', 400n)]]);
    expect(state.wallets.get('ten_a')).toMatchObject({ availableMinor: 0n, receivableMinor: 300n });
    expect(seen(state)).toMatchObject({ card: 400n, wallet: 0n });
  });
});

const reported = (kind: 'succeeded' | 'reversed', amountMinor: bigint) =>
  applied({ ...byProvider, kind, amountMinor, sessionId: null });
const refusal = applied({ ...byProvider, kind: 'rejected', code: 'funding_refused' });

test.each([
  ['before its success is known', [reported('reversed', 400n)]],
  ['before its success arrives', [reported('reversed', 400n), reported('succeeded', 400n)]],
  ['after it had failed', [refusal, reported('reversed', 400n), reported('succeeded', 400n)]],
])('a part that was given back and reversed %s is on the card', (_, facts) => {
  const { state } = run(
    unloading(),
    facts.map((fact) => [fact]),
  );
  const books = balances(state);
  expect(books.get(accounts.available('ten_a'))).toBe(WALLET);
  expect(books.get(accounts.cardAvailable(CARD))).toBe(AMOUNT);
  const operation = state.records.get(cardOperations, 'cop_u');
  expect(operation).toMatchObject({ status: 'failed' });
  expect(operation?.reversed_at).toEqual(NOW);
  expect(operation?.attention).not.toBeNull();
});

test('a surplus in suspense keeps its attention when the card is unloaded again', () => {
  const failed = run(unloading(), [[refusal]]).state;
  const card = failed.records.get(cards, CARD);
  if (!card) throw new Error('there is no card');
  const spent = posting('spent', 'ten_a', NOW, [
    { account: accounts.cardAvailable(CARD), amountMinor: -500n },
    { account: accounts.external, amountMinor: 500n },
  ]);
  failed.postings.set(spent.id, spent);
  failed.records.set(cards, { ...card, available_minor: AMOUNT - 500n });
  const less = run(failed, [[reported('succeeded', 600n)]]).state;
  const { attention } = less.records.get(cardOperations, 'cop_u') ?? {};
  expect(attention?.reason).toContain('the surplus is in suspense');
  const by = { actor: 'operator', reason: 'the rest' };
  const again = { kind: 'retryCardUnload', tenantId: 'ten_a', card: CARD, ...by } as const;
  const { state, outcomes } = run(less, [[again]]);
  expect(outcomes).toMatchObject([{ done: false }]);
  expect(state.records.get(cardOperations, 'cop_u')?.attention).toEqual(attention);
});

test('whatever else is reported, nothing is credited after a reversal that comes before the success', () => {
  const parts = fc.constantFrom(AMOUNT, 400n, 300n, 1n);
  fc.assert(
    fc.property(parts, fc.array(facts, { maxLength: 4 }), (reversedMinor, sequence) => {
      const { state } = run(unloading(), [
        [reported('reversed', reversedMinor)],
        ...sequence.map((fact) => [applied(fact)]),
      ]);
      expect(balances(state).get(accounts.available('ten_a'))).toBe(WALLET);
      expect(state.records.get(cardOperations, 'cop_u')?.status).toBe('failed');
    }),
  );
});

test('the same facts again change nothing', () => {
  fc.assert(
    fc.property(facts, (fact) => {
      const once = run(unloading(), [[applied(fact)]]).state;
      const twice = run(once, [[applied(fact)]]).state;
      expect(twice.records.get(cardOperations, 'cop_u')).toEqual(
        once.records.get(cardOperations, 'cop_u'),
      );
      expect(twice.postings.size).toBe(once.postings.size);
    }),
  );
});

test('a balance that arrives while an unloading is open is unloaded by the next one', () => {
  const state = unloading();
  const card = state.records.get(cards, CARD);
  if (!card) throw new Error('no card');
  state.records.set(cards, { ...card, available_minor: 70n });
  const late = posting('refund', 'ten_a', NOW, [
    { account: accounts.external, amountMinor: -70n },
    { account: accounts.cardAvailable(CARD), amountMinor: 70n },
  ]);
  state.postings.set(late.id, late);
  const fact = { ...byProvider, kind: 'succeeded', amountMinor: AMOUNT, sessionId: null } as const;
  const { state: after } = run(state, [[applied(fact)]]);
  const next = after.records.get(cards, CARD);
  expect(next).toMatchObject({ available_minor: 0n, held_minor: 70n });
  expect(next?.unload.operation_id).not.toBe('cop_u');
});
