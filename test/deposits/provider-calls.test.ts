import { createDepositCalls } from '../../src/capabilities/deposits/provider-calls.js';
import { apply, confirmed, facts, reported } from './facts.js';

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
