import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import {
  applyChange,
  labelOf,
  MONITOR_MS,
  raiseAttention,
  type Change,
  type Verdict,
} from '../../core/instructions/transition.js';
import type { AccountFace } from '../../core/providers/account-provider.js';
import {
  accountFailure,
  isUnderWay,
  type AccountInstruction,
  type VirtualAccount,
} from './virtual-account.js';

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
  const change =
    fact.instruction === 'assign'
      ? assignmentChange(account, fact, now)
      : closingChange(account, fact, now);
  if (typeof change === 'string') return { verdict: change, next: account };
  const next = applyChange(account, fact, labelOf(fact), change, now);
  return { verdict: change.verdict ?? 'applied', next };
}

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
  { code, via, ifNotSubmitted }: Extract<AccountFact, { kind: 'rejected' }>,
  now: Date,
): AccountChange | 'unchanged' | 'stale' {
  if (ifNotSubmitted && account.submissions > 0) return 'stale';
  if (isUnderWay(account, 'assign')) {
    const monitored = via === 'operator' && account.submissions > 0;
    return {
      set: {
        state: 'failed',
        status: 'failed',
        failure: accountFailure(code),
        attention: null,
        monitor_until: monitored ? new Date(now.getTime() + MONITOR_MS) : null,
      },
      entry: ['completed', 'there is no account'],
    };
  }
  if (account.instruction === 'close') return 'stale';
  if (account.status === 'completed') {
    const reason = 'the provider rejected an account that it had reported as assigned';
    return raiseAttention(account, now, reason);
  }
  if (account.monitor_until === null || via === 'operator') return 'unchanged';
  return {
    set: { monitor_until: null },
    entry: ['note', 'the provider confirms that it assigned no account'],
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
  return {
    set: { attention: null },
    entry: ['attention_cleared', 'an operator and the provider confirm the account'],
  };
}

function closingChange(
  account: VirtualAccount,
  fact: AccountFact,
  now: Date,
): AccountChange | 'unchanged' | 'stale' {
  if (account.state === 'closed') return 'unchanged';
  if (fact.kind === 'succeeded') return close(account, now);
  if (!isUnderWay(account, 'close')) return 'stale';
  if (fact.kind !== 'rejected') return 'stale';
  if (fact.ifNotSubmitted && account.submissions > 0) return 'stale';
  return {
    set: { state: 'active', status: 'failed', attention: null },
    entry: ['note', 'the account is active again'],
  };
}

/** Closed at the provider, by our request or by its own decision. */
function close(account: VirtualAccount, now: Date): AccountChange | 'stale' {
  if (account.state === 'pending' || account.state === 'failed') return 'stale';
  return {
    set: {
      instruction: 'close',
      state: 'closed',
      status: 'completed',
      attention: null,
      closed_at: now,
    },
    entry: [
      'completed',
      account.state === 'closing' ? 'the account is closed' : 'the provider closed the account',
    ],
  };
}
