import fc from 'fast-check';
import { cardAuthorizations } from '../../src/capabilities/card-authorizations/record.js';
import { cards, OPEN_SECURITY } from '../../src/capabilities/cards/record.js';
import { lagosDay } from '../../src/core/ledger/wallet.js';
import { DAY_MS } from '../../src/shared/durations.js';
import {
  authorizationFactMutation,
  decideAuthorizationMutation,
  standInMutation,
  stateWith,
} from '../support/authorizations.js';
import { openCard } from '../support/card-record.js';
import { run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { NOW } from '../support/transfers.js';

const on = (day: number) => new Date(NOW.getTime() + (day - 1) * DAY_MS);

/** The state after each of these mutations, which are decided on the days before them. */
function after(steps: readonly (readonly [day: number, mutation: AnyMutation])[]) {
  const security = { ...OPEN_SECURITY, daily_limit_minor: 10_000n };
  let state = stateWith(openCard({ available_minor: 100_000n, security }));
  for (const [day, mutation] of steps) state = run(state, [[mutation]], on(day)).state;
  return {
    payments: state.records.all(cardAuthorizations),
    card: state.records.get(cards, 'crd_a'),
  };
}

const approval = (day: number, messageId: string, amountMinor: bigint, token = 'auth_1') =>
  [
    day,
    decideAuthorizationMutation(
      { token, messageId, amountMinor, requestedAt: on(day) },
      { answerBy: on(day) },
    ),
  ] as const;
const reversal = (day: number, minor = 0n, token = 'auth_1') => {
  const at = (on(day).getTime() - NOW.getTime()) / 1_000 + 1;
  const given = { minor, at, token, key: `reversed-${token}-${day}-${minor}` };
  return [day, authorizationFactMutation('reversed', given)] as const;
};

test('an increment of a later day that is reversed does not use the limit of its day any more', () => {
  const steps = [approval(1, 'm1', 1_000n), approval(2, 'm2', 9_000n), reversal(2)];
  const { payments, card } = after([...steps, approval(2, 'm3', 5_000n, 'auth_2')]);
  expect(payments.map(({ code }) => code)).toEqual(['approved', 'approved']);
  expect(card?.daily_spend).toEqual({ day: lagosDay(on(2)), minor: 5_000n });
});

test('a partial reversal restores the limit of the latest day first, and the limit of no other day', () => {
  const steps = [approval(1, 'm1', 1_000n), approval(2, 'm2', 4_000n)];
  expect(after([...steps, reversal(2, 3_000n)]).card?.daily_spend.minor).toBe(1_000n);
  expect(after([...steps, reversal(2, 4_500n)]).card?.daily_spend.minor).toBe(0n);
  const other = approval(3, 'm3', 700n, 'auth_2');
  expect(after([...steps, other, reversal(3)]).card?.daily_spend.minor).toBe(700n);
});

test('a late approval in our place, made before the approval of its payment, uses the limit of the day of its arrival alone', () => {
  const late = standInMutation(500n, { message: 'm3', at: -60 });
  const used = [approval(1, 'm1', 1_000n), approval(2, 'm2', 5_000n, 'auth_2'), [2, late] as const];
  expect(after(used).card?.daily_spend.minor).toBe(5_500n);
  expect(after([...used, reversal(2)]).card?.daily_spend.minor).toBe(5_000n);
});

test('whatever is approved and reversed on which days, a day counts what was approved on it and not reversed', () => {
  const step = fc.record({
    day: fc.integer({ min: 1, max: 3 }),
    token: fc.constantFrom('auth_1', 'auth_2'),
    minor: fc.constantFrom(1_000n, 2_000n, 3_000n),
    isReversed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (given) => {
      const steps = given
        .toSorted((a, b) => a.day - b.day)
        .map(({ day, token, minor, isReversed }, i) =>
          isReversed ? reversal(day, 0n, token) : approval(day, `m${i}`, minor, token),
        );
      const { payments, card } = after(steps);
      const spent = card?.daily_spend;
      // Holds of approvals of earlier days do not count.
      const held = payments.map((one) => {
        const standing = one.facts.filter(
          ({ kind, at }) =>
            kind === 'approved' &&
            one.facts.every((end) => end.kind !== 'reversed' || end.at < at) &&
            lagosDay(at) === spent?.day,
        );
        return standing.reduce((sum, { amount_minor: minor }) => sum + minor, 0n);
      });
      expect(spent?.minor).toBe(held.reduce((sum, minor) => sum + minor, 0n));
    }),
  );
});
