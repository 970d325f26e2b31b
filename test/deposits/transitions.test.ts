import { newDeposit, type Deposit } from '../../src/capabilities/deposits/deposit.js';
import {
  transitionDeposit,
  type DepositFact,
} from '../../src/capabilities/deposits/transitions.js';

const NOW = new Date('2026-11-25T09:00:00Z');
const AMOUNT = 250_000n;
const source = { via: 'poll', actor: null, providerRequestId: null, note: null } as const;
const told = {
  accountNumber: '9800000001',
  amountMinor: AMOUNT,
  feeMinor: null,
  currency: 'NGN',
  sessionId: null,
  sender: { name: null, account: null, bank: null },
  narration: null,
  receivedAt: NOW,
};
const reported = newDeposit(
  {
    id: 'dep_1',
    tenantId: 'unowned',
    provider: 'sandbox-bank',
    reference: 'dpt_1',
    accountId: null,
    accountNumber: told.accountNumber,
    amountMinor: AMOUNT,
    receivedAt: NOW,
    via: 'webhook',
    detail: 'reported',
  },
  NOW,
);
const apply = (deposit: Deposit, fact: DepositFact) =>
  transitionDeposit(
    { deposit, account: null, now: NOW, terms: { maxMinor: AMOUNT, returns: true } },
    fact,
  );
const confirmed = { ...source, instruction: 'confirm', kind: 'confirmed', deposit: told } as const;
const succeeded = {
  ...source,
  instruction: 'confirm',
  kind: 'succeeded',
  amountMinor: null,
  sessionId: null,
} as const;
const to = { id: 'dep_2', tenant_id: 'ten_a', virtual_account_id: 'va_1' };

test('an answer to a question from before a move does not end the move', () => {
  const suspended = apply(reported, confirmed);
  expect([suspended.step, suspended.next.state]).toEqual(['suspense', 'suspended']);
  const moved = apply(suspended.next, { ...source, instruction: 'confirm', kind: 'moved', to });
  expect([moved.step, moved.next.status]).toEqual(['move', 'processing']);
  for (const late of [confirmed, succeeded]) {
    expect(apply(moved.next, late)).toMatchObject({ verdict: 'unchanged', next: moved.next });
  }
  const done = { ...source, instruction: 'confirm', kind: 'move_completed' } as const;
  const completed = apply(moved.next, done);
  expect([completed.step, completed.next.status]).toEqual([null, 'completed']);
  expect(apply(completed.next, done).verdict).toBe('unchanged');
});

test('a return of a deposit that the provider has taken back reverses it', () => {
  const suspended = apply(reported, confirmed).next;
  const ordered = { ...source, instruction: 'return', kind: 'return_ordered' } as const;
  const returning = apply(suspended, ordered).next;
  const reversed = { ...source, instruction: 'return', kind: 'reversed' } as const;
  const after = apply(returning, { ...reversed, amountMinor: null, sessionId: null });
  expect([after.step, after.next.state]).toEqual(['suspense-reversal', 'reversed']);
});
