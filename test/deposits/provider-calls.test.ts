import { createDepositCalls } from '../../src/capabilities/deposits/provider-calls.js';
import type { DepositFact } from '../../src/capabilities/deposits/transitions.js';
import { AMOUNT, apply, confirmed, facts, FORCED, last, reported } from './facts.js';

const inDollars = { ...confirmed.deposit, currency: 'USD' };
const calls = createDepositCalls({
  deposits: { applyFact: async () => ({ kind: 'no_such_deposit' }) },
  providers: {
    accountProvider: () => ({
      verifyDeposit: async () => ({
        kind: 'received',
        deposit: { id: 'dpt_1', ...inDollars },
        providerRequestId: null,
      }),
    }),
  },
} as unknown as Parameters<typeof createDepositCalls>[0]);

test('the workflow of a deposit in another currency calls an operator, and after one has ended it nobody', async () => {
  const { signal } = new AbortController();
  const attention = 'the deposit has another currency';
  expect((await calls.verify(reported, signal)).result).toEqual({ kind: 'mismatch', attention });
  const ended = apply(reported, facts['ended by force']).next;
  expect(await calls.verify(ended, signal)).toEqual({ kind: 'pending', providerRequestId: null });
});

test('a return of another amount, behind a deposit that the provider shows as reversed, calls an operator', async () => {
  const { signal } = new AbortController();
  const { next: doubted } = last([...FORCED, 'doubted']);
  for (const [amountMinor, result] of [
    [AMOUNT, undefined],
    [
      AMOUNT - 1n,
      {
        kind: 'mismatch',
        attention: 'the provider returned another amount than the deposit’s',
      },
    ],
  ] as const) {
    const applied: DepositFact[] = [];
    const trace = { providerRequestId: null };
    const found = createDepositCalls({
      deposits: { applyFact: async (_: unknown, fact: DepositFact) => applied.push(fact) },
      providers: {
        accountProvider: () => ({
          verifyDeposit: async () => ({ ...trace, kind: 'reversed' }),
          verifyReturn: async () => ({ ...trace, kind: 'succeeded', amountMinor, sessionId: null }),
        }),
      },
    } as unknown as Parameters<typeof createDepositCalls>[0]);
    expect((await found.verify(doubted, signal)).result).toEqual(result);
    expect(applied).toMatchObject([{ instruction: 'return', kind: 'succeeded', amountMinor }]);
  }
});
