import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import {
  applyChange,
  labelOf,
  monitoredUntil,
  raiseAttention,
  type Change,
  type Verdict,
  isOutdatedRejection,
  rejectionAfterEnd,
} from '../../core/instructions/transition.js';
import type { AccountFace } from '../../core/providers/account-provider.js';
import {
  accountFailure,
  isUnderWay,
  lastRequeryDay,
  type AccountInstruction,
  type VirtualAccount,
} from './record.js';

/**
 * A fact about an account, with the instruction that it is about. `assigned` has the account's number, which workflow
 * histories must not hold, so a workflow has `succeeded` in its place, which is applied after `assigned`.
 */
export type AccountFact = { instruction: AccountInstruction } & (
  InstructionFact | (FactSource & { kind: 'assigned' } & AccountFace)
);

/** The effect of a fact. `unchanged` and `stale` write nothing. */
export type AccountTransition = { verdict: Verdict; next: VirtualAccount };

type AccountChange = Change<VirtualAccount>;
type Assigned = Extract<AccountFact, { kind: 'assigned' }>;

/** The state machine of virtual accounts: total, without side effects. No money moves. */
export function transitionAccount(
  account: VirtualAccount,
  fact: AccountFact,
  now: Date,
): AccountTransition {
  const known = ofClosedAccount(account, fact);
  const change =
    known.instruction === 'assign'
      ? assignmentChange(account, known, now)
      : closingChange(account, known, now);
  if (typeof change === 'string') return { verdict: change, next: account };
  const next = applyChange(account, known, labelOf(known), change, now);
  return { verdict: change.verdict ?? 'applied', next };
}

/**
 * A report that the account is closed, as a fact about what the account has here: it ends an assignment, or closes an account
 * with a number. A question about the assignment has it as a rejection, and a message as the end of a closing.
 */
function ofClosedAccount(account: VirtualAccount, fact: AccountFact): AccountFact {
  const isClosed =
    fact.instruction === 'close'
      ? fact.kind === 'succeeded'
      : fact.kind === 'rejected' && fact.code === CLOSED;
  if (!isClosed) return fact;
  const { via, actor, providerRequestId, note } = fact;
  const source = { via, actor, providerRequestId, note, ...(fact.act && { act: fact.act }) };
  return account.state === 'pending' || account.state === 'failed'
    ? { ...source, instruction: 'assign', kind: 'rejected', code: CLOSED }
    : { ...source, instruction: 'close', kind: 'succeeded', amountMinor: null, sessionId: null };
}

/** The code of an assignment whose account the provider has closed. */
const CLOSED = 'closed';

function assignmentChange(
  account: VirtualAccount,
  fact: AccountFact,
  now: Date,
): AccountChange | 'unchanged' | 'stale' {
  switch (fact.kind) {
    // The answer's number was applied as `assigned` before, so `succeeded` adds nothing.
    case 'succeeded':
      return account.face === null ? 'stale' : 'unchanged';
    case 'reversed':
      return 'stale';
    case 'assigned':
      return assign(account, fact, now);
    case 'operator_confirmed':
      return confirmByOperator(account);
    case 'rejected':
      return reject(account, fact, now);
  }
}

const asAssigned = ({ accountNumber, handle, accountName, bankName, bankCode }: Assigned) => ({
  account_number: accountNumber,
  face: { handle, accountName, bankName, bankCode },
});

function assign(
  account: VirtualAccount,
  fact: Assigned,
  now: Date,
): AccountChange | 'unchanged' | 'stale' {
  if (account.face !== null) {
    return account.account_number === fact.accountNumber
      ? 'unchanged'
      : raiseAttention(account, now, 'the provider reports another account than before');
  }
  if (isUnderWay(account, 'assign')) {
    return {
      set: { state: 'active', status: 'completed', attention: null, ...asAssigned(fact) },
      entry: ['completed', 'the account is active'],
    };
  }
  const reason = 'assigned by the provider after the account had failed';
  return {
    set: { ...asAssigned(fact), monitor_until: null, attention: { since: now, reason } },
    entry: ['attention_raised', 'the account stays failed until an operator confirms it'],
    verdict: 'attention',
  };
}

function reject(
  account: VirtualAccount,
  fact: Extract<AccountFact, { kind: 'rejected' }>,
  now: Date,
): AccountChange | 'unchanged' | 'stale' {
  if (account.instruction === 'close') return 'stale';
  // A rejection in a message may be older than the assignment. A closing and an answer are not.
  const isLatest = fact.via !== 'webhook' || fact.code === CLOSED;
  if (account.state === 'failed' && account.face !== null && account.attention !== null) {
    return isLatest && !isOutdatedRejection(account, fact)
      ? clearAttention('the provider does not have the late account any more')
      : 'unchanged';
  }
  const late = rejectionAfterEnd(account, fact, now, {
    contradiction: 'the provider rejected an account that it had reported as assigned',
    nothing: 'the provider confirms that it assigned no account',
  });
  if (late !== null) return late;
  return {
    set: {
      state: 'failed',
      status: 'failed',
      failure: accountFailure(fact.code),
      attention: null,
      monitor_until: monitoredUntil(account, fact.via, now),
    },
    entry: ['completed', 'there is no account'],
  };
}

/** An operator confirms an account that the provider has assigned. A failed account becomes active. */
function confirmByOperator(account: VirtualAccount): AccountChange | 'unchanged' | 'stale' {
  if (account.face === null || account.instruction === 'close') return 'stale';
  if (account.status === 'failed') {
    return {
      set: { state: 'active', status: 'completed', failure: null, attention: null },
      entry: ['completed', 'the account is active after all'],
    };
  }
  if (account.attention === null) return 'unchanged';
  return clearAttention('an operator and the provider confirm the account');
}

const clearAttention = (entry: string): AccountChange => ({
  set: { attention: null },
  entry: ['attention_cleared', entry],
});

function closingChange(
  account: VirtualAccount,
  fact: AccountFact,
  now: Date,
): AccountChange | 'unchanged' | 'stale' {
  if (account.state === 'closed') {
    return fact.kind === 'operator_confirmed' && account.attention !== null
      ? clearAttention('an operator and the provider confirm that the account is closed')
      : 'unchanged';
  }
  if (fact.kind === 'succeeded') return close(account, now);
  if (!isUnderWay(account, 'close')) {
    // The only way out of attention for an account whose closing has failed: there is no assignment to confirm any more.
    const isSeen = fact.kind === 'rejected' && fact.via === 'operator' && account.attention;
    return account.instruction === 'close' && isSeen
      ? clearAttention('an operator has seen that the account is active')
      : 'stale';
  }
  if (fact.kind !== 'rejected') return 'stale';
  if (isOutdatedRejection(account, fact)) return 'stale';
  return {
    set: { state: 'active', status: 'failed', attention: null },
    entry: ['note', 'the account is active again'],
  };
}

/** Closed at the provider, by our request or by its own decision. */
function close(account: VirtualAccount, now: Date): AccountChange {
  return {
    set: {
      instruction: 'close',
      state: 'closed',
      status: 'completed',
      attention: null,
      closed_at: now,
      requery_through: lastRequeryDay(now),
    },
    entry: [
      'completed',
      account.state === 'closing' ? 'the account is closed' : 'the provider closed the account',
    ],
  };
}
