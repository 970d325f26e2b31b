import { newVirtualAccount } from '../../src/capabilities/virtual-accounts/record.js';
import { newDeposit, type Deposit } from '../../src/capabilities/deposits/record.js';
import {
  transitionDeposit,
  type DepositFact,
  type DepositTransition,
} from '../../src/capabilities/deposits/transitions.js';

/** The time of every fact. */
export const NOW = new Date('2026-11-25T09:00:00Z');
/** The amount of the deposit, and the limit of one. */
export const AMOUNT = 250_000n;
/** The provider’s answer to a poll. */
export const source = { via: 'poll', actor: null, providerRequestId: null, note: null } as const;
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
/** A deposit that was reported on an account that nobody has. */
export const reported = newDeposit(
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
/** The effect of one fact on a deposit whose account nobody has. */
export const apply = (deposit: Deposit, fact: DepositFact) =>
  transitionDeposit(
    { deposit, account: null, now: NOW, terms: { maxMinor: AMOUNT, returns: true } },
    fact,
  );
/** The provider has the deposit. */
export const confirmed = {
  ...source,
  instruction: 'confirm',
  kind: 'confirmed',
  deposit: told,
} as const;
/** The provider still has the deposit. */
export const succeeded = {
  ...source,
  instruction: 'confirm',
  kind: 'succeeded',
  amountMinor: null,
  sessionId: null,
} as const;
/** The tenant and account that an operator moves it to. */
export const to = { id: 'dep_2', tenant_id: 'ten_a', virtual_account_id: 'va_1' };

/** An account of the tenant. */
export const active = {
  ...newVirtualAccount(
    {
      tenantId: 'ten_a',
      provider: 'sandbox-bank',
      customer: { id: 'holder-1', name: null, email: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: null,
      reference: undefined,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    },
    NOW,
  ),
  state: 'active',
  account_number: told.accountNumber,
} as const;

const OF_RETURN = { ...source, instruction: 'return' } as const;
const PAID = { amountMinor: null, sessionId: null } as const;
/** The facts of a deposit by their name. */
export const facts = {
  confirmed,
  'confirmed with another amount': { ...confirmed, deposit: { ...told, amountMinor: AMOUNT - 1n } },
  'still received': succeeded,
  doubted: { ...source, instruction: 'confirm', kind: 'doubted' },
  reversed: { ...source, instruction: 'confirm', kind: 'reversed', ...PAID },
  'ended by force': {
    ...source,
    via: 'operator',
    instruction: 'confirm',
    kind: 'rejected',
    code: 'operator',
  },
  'confirmed by an operator': {
    ...source,
    via: 'operator',
    instruction: 'confirm',
    kind: 'operator_confirmed',
  },
  'return ordered': { ...OF_RETURN, via: 'operator', kind: 'return_ordered' },
  assigned: {
    ...source,
    via: 'operator',
    instruction: 'confirm',
    kind: 'assigned',
    account: 'va_1',
  },
  moved: { ...source, via: 'operator', instruction: 'confirm', kind: 'moved', to },
  'move completed': { ...source, instruction: 'confirm', kind: 'move_completed' },
  'return proven': { ...OF_RETURN, kind: 'succeeded', ...PAID },
  'return of another amount': {
    ...OF_RETURN,
    kind: 'succeeded',
    ...PAID,
    amountMinor: AMOUNT - 1n,
  },
  'other amount accepted': {
    ...OF_RETURN,
    via: 'operator',
    kind: 'operator_confirmed',
    amountMinor: AMOUNT - 1n,
  },
  'return refused': { ...OF_RETURN, kind: 'rejected', code: 'return_refused' },
  'return ended by force': { ...OF_RETURN, via: 'operator', kind: 'rejected', code: 'operator' },
  'return reversed': { ...OF_RETURN, kind: 'reversed', ...PAID },
  'return confirmed by an operator': { ...OF_RETURN, via: 'operator', kind: 'operator_confirmed' },
} as const satisfies Record<string, DepositFact>;
/** A fact, or the permit to submit. */
export type Fact = keyof typeof facts | 'submitted';

/** A permit to submit, which the store grants. */
export const submitted = (deposit: Deposit): Deposit => ({
  ...deposit,
  status: 'processing',
  submissions: deposit.submissions + 1,
  first_submitted_at: deposit.first_submitted_at ?? NOW,
});

/** The deposit after these facts, on an account of its own or, as most that are suspended, on one that nobody has. */
function after(names: readonly Fact[], { owned = false } = {}): DepositTransition[] {
  const done: DepositTransition[] = [];
  let deposit: Deposit = { ...reported, virtual_account_id: owned ? active._id : null };
  for (const name of names) {
    if (name === 'submitted') {
      deposit = submitted(deposit);
      continue;
    }
    const fact = facts[name];
    const account = owned || fact.kind === 'assigned' ? active : null;
    const terms = { maxMinor: AMOUNT, returns: true };
    const transition = transitionDeposit({ deposit, account, now: NOW, terms }, fact);
    done.push(transition);
    deposit = transition.next;
  }
  return done;
}
/** The effect of the last of these facts. */
export const last = (...given: Parameters<typeof after>): DepositTransition => {
  const found = after(...given).at(-1);
  if (!found) throw new Error('no fact');
  return found;
};

/** The facts of a deposit in suspense. */
export const SUSPENDED: Fact[] = ['confirmed'];
/** The facts of one whose return was submitted. */
export const RETURNING: Fact[] = [...SUSPENDED, 'return ordered', 'submitted'];
/** The facts of one whose return was ended by force. */
export const FORCED: Fact[] = [...RETURNING, 'return ended by force'];
/** The facts of one whose return was refused. */
export const REFUSED: Fact[] = [...RETURNING, 'return refused'];
