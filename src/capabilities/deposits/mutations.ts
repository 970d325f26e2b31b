import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import { instructionState } from '../../core/instructions/instruction.js';
import { virtualAccounts } from '../virtual-accounts/record.js';
import { depositCounts, deposits, type Deposit } from './record.js';
import { moveDeposit, type DepositStep } from './postings.js';
import type { DepositTerms } from './suspense.js';
import { transitionDeposit, type DepositFact, type DepositTransition } from './transitions.js';
import { withDepositEvent } from './webhook-events.js';

/** A reported deposit, complete with its id. */
type RecordDeposit = { tenantId: string; id: string; deposit: Deposit };

/** A fact about a deposit. */
type ApplyDepositFact = {
  tenantId: string;
  id: string;
  /** The account that the fact is about; null if there is none. */
  account: string | null;
  fact: DepositFact;
  terms: DepositTerms;
};

/** The verdict, and the deposit after the fact. */
export type ApplyDepositFactResult =
  | { kind: 'fact'; verdict: DepositTransition['verdict']; deposit: Deposit }
  | { kind: 'no_such_deposit' };

/** Records a deposit that was reported, once. No money moves. */
export const recordDeposit: Mutation<RecordDeposit, { recorded: boolean }> = {
  reads: ({ tenantId, id }) => ({ records: [deposits.ref(id)], wallets: [tenantId] }),
  decide(uow, { deposit }) {
    if (uow.get(deposits, deposit._id)) return { recorded: false };
    uow.create(deposits, deposit);
    count(uow, deposit, null);
    return { recorded: true };
  },
};

/** Applies a fact about a deposit: its state, the posting, the account's total and the event in one commit. */
export const applyDepositFact: Mutation<ApplyDepositFact, ApplyDepositFactResult> = {
  reads: ({ tenantId, id, account }) => ({
    records: [deposits.ref(id), ...(account === null ? [] : [virtualAccounts.ref(account)])],
    wallets: [tenantId],
  }),
  decide: decideFact,
  audited: (uow, { id }) => instructionState(uow.get(deposits, id)),
};

/** Counts the deposit's state. Counts belong to commits that write the wallet. */
function count(uow: UnitOfWork, deposit: Deposit, before: Deposit | null): void {
  const changes = depositCounts.changesOf(deposit, before?.state ?? null, deposit.state);
  if (changes.length === 0) return;
  for (const change of changes) uow.count(depositCounts.counter, change);
  uow.changeWallet(uow.wallet(deposit.tenant_id));
}

/** The change of the account's total by a step, in amounts of the deposit. */
const TOTALS: Partial<Record<DepositStep, bigint>> = { credit: 1n, assign: 1n, reversal: -1n };

function decideFact(
  uow: UnitOfWork,
  { tenantId, id, account: accountId, fact, terms }: ApplyDepositFact,
  now: Date,
): ApplyDepositFactResult {
  const deposit = uow.get(deposits, id);
  if (deposit?.tenant_id !== tenantId) return { kind: 'no_such_deposit' };
  const account = (accountId !== null && uow.get(virtualAccounts, accountId)) || null;
  const transition = transitionDeposit({ deposit, account, now, terms }, fact);
  const { verdict, step } = transition;
  if (transition.next === deposit) return { kind: 'fact', verdict, deposit };
  const owed = step ? bookStep(uow, transition.next, step, now) : 0n;
  const reason = 'the wallet could not cover this reversal: the tenant owes the rest';
  const after: Deposit =
    owed > 0n && step === 'reversal'
      ? { ...transition.next, attention: { since: now, reason }, next_check_at: now }
      : transition.next;
  const { next, event } = withDepositEvent(deposit, after);
  uow.change(deposits, next);
  count(uow, next, deposit);
  uow.emit(event);
  return { kind: 'fact', verdict, deposit: next };
}

/** Posts a step, and changes the wallet and the account's total with it. Returns what the tenant owes more. */
function bookStep(uow: UnitOfWork, deposit: Deposit, step: DepositStep, now: Date): bigint {
  const { amount_minor: amountMinor, tenant_id: tenantId, virtual_account_id: id } = deposit;
  if (amountMinor === null) throw new Error(`${deposit._id} has no amount to book`);
  const wallet = uow.wallet(tenantId);
  const moved = moveDeposit({ ...deposit, amount_minor: amountMinor }, step, now, wallet);
  uow.post(moved.posting);
  if (moved.availableMinor !== 0n || moved.receivableMinor !== 0n) {
    uow.changeWallet({
      ...wallet,
      availableMinor: wallet.availableMinor + moved.availableMinor,
      receivableMinor: wallet.receivableMinor + moved.receivableMinor,
    });
  }
  const change = (TOTALS[step] ?? 0n) * amountMinor;
  if (change !== 0n) {
    const account = id === null ? undefined : uow.get(virtualAccounts, id);
    if (!account) throw new Error(`${deposit._id} is credited without its account`);
    uow.change(virtualAccounts, {
      ...account,
      total_received_minor: account.total_received_minor + change,
      version: account.version + 1,
      updated_at: now,
    });
  }
  return moved.receivableMinor;
}
