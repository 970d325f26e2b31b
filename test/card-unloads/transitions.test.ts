import fc from 'fast-check';
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
    .constantFrom(null, AMOUNT, 400n, 300n)
    .map((amountMinor) => ({ ...byProvider, kind: 'reversed', amountMinor, sessionId: null })),
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
