import { transitionDeposit } from '../../src/capabilities/deposits/transitions.js';
import {
  freshInstruction,
  type VirtualAccount,
} from '../../src/capabilities/virtual-accounts/record.js';
import { DAY_MS } from '../../src/shared/durations.js';
import { active, AMOUNT, confirmed, facts, last, NOW, reported, SUSPENDED } from './facts.js';

test('a deposit that would bring an account above the largest total is not assigned to it', () => {
  const deposit = last(SUSPENDED).next;
  const terms = { maxMinor: AMOUNT, returns: true };
  const most = BigInt(Number.MAX_SAFE_INTEGER) - AMOUNT;
  for (const [total, step] of [
    [most, 'assign'],
    [most + 1n, null],
  ] as const) {
    const account = { ...active, total_received_minor: total };
    const given = { deposit, account, now: NOW, terms };
    expect(transitionDeposit(given, facts.assigned).step).toBe(step);
  }
});

test('a deposit whose fee is as much as it is credited to nobody', () => {
  const costly = { ...last(SUSPENDED).next, fee_minor: AMOUNT };
  const terms = { maxMinor: AMOUNT, returns: true };
  for (const name of ['assigned', 'moved'] as const) {
    const given = { deposit: costly, account: active, now: NOW, terms };
    expect(transitionDeposit(given, facts[name]).verdict).toBe('stale');
  }
});

test('a deposit above the limit that an operator has moved here is credited', () => {
  const deposit = { ...reported, virtual_account_id: active._id, assigned: true };
  const terms = { maxMinor: AMOUNT - 1n, returns: true };
  const { step } = transitionDeposit({ deposit, account: active, now: NOW, terms }, confirmed);
  expect(step).toBe('credit');
});

test('a deposit that is older than its account is in suspense, whatever became of the account, unless an operator has assigned it', () => {
  const terms = { maxMinor: AMOUNT, returns: true };
  const closing = { ...active, ...freshInstruction('close', NOW), state: 'closing' } as const;
  const closed = { ...closing, state: 'closed', status: 'completed' } as const;
  const before = (ms: number) => ({
    ...confirmed,
    deposit: { ...confirmed.deposit, receivedAt: new Date(NOW.getTime() - ms) },
  });
  const owned = { ...reported, virtual_account_id: active._id };
  for (const account of [active, closing, closed]) {
    const given = { deposit: owned, account, now: NOW, terms };
    const { step, next } = transitionDeposit(given, before(DAY_MS));
    expect([step, next.match]).toEqual(['suspense', 'late']);
    expect(next.attention?.reason).toBe('the account is newer than the deposit');
    // The clocks of the provider and of Bursar differ.
    expect(transitionDeposit(given, before(59_000)).step).toBe('credit');
  }
  const assigned = { deposit: { ...owned, assigned: true }, account: active, now: NOW, terms };
  expect(transitionDeposit(assigned, before(DAY_MS)).step).toBe('credit');
});

describe('a deposit that is confirmed after its account was closed', () => {
  const before = new Date(NOW.getTime() - 1);
  const owned = { ...reported, virtual_account_id: active._id };
  const deposit = { ...confirmed.deposit, receivedAt: before };
  const terms = { maxMinor: AMOUNT, returns: true };
  const booked = (account: VirtualAccount, receivedAt: Date) =>
    transitionDeposit(
      { deposit: owned, account, now: NOW, terms },
      { ...confirmed, deposit: { ...deposit, receivedAt } },
    );
  const closing = { ...active, ...freshInstruction('close', NOW), state: 'closing' } as const;
  const closed = { ...closing, state: 'closed', status: 'completed' } as const;

  test.each([closing, closed])(
    'is credited if it arrived before the tenant closed it',
    (account) => {
      const early = booked(account, before);
      expect([early.step, early.next.match]).toEqual(['credit', 'unexpected']);
      const exact = booked({ ...account, amount_minor: AMOUNT }, before);
      expect([exact.step, exact.next.match]).toEqual(['credit', 'exact']);
      const late = booked(account, NOW);
      expect([late.step, late.next.match]).toEqual(['suspense', 'late']);
    },
  );

  test('is in suspense if the provider closed it, or if only the message says that it arrived before', () => {
    // A closing by the provider leaves the time of the assignment.
    const byProvider = { ...active, state: 'closed', instruction: 'close' } as const;
    expect(booked({ ...byProvider, instructed_at: before }, before).step).toBe('suspense');
    const claimed = { ...owned, received_at: before };
    const given = { deposit: claimed, account: closed, now: NOW, terms };
    expect(transitionDeposit(given, confirmed).step).toBe('suspense');
  });
});
