import { compareCounts } from '../../core/commit/daily-counts.js';
import { needsWorkflow } from '../../core/instructions/instruction.js';
import {
  auditPages,
  checkLegs,
  checkSteps,
  stepsOf,
  type RecordAudit,
  type RecordWithPostings,
  type Steps,
  type TenantAudit,
  type TenantBooks,
} from '../../core/ledger/audit-checks.js';
import { accounts } from '../../core/ledger/posting.js';
import { virtualAccounts } from '../virtual-accounts/record.js';
import { depositCounts, deposits, type Deposit } from './record.js';
import { moveDeposit, type DepositStep } from './postings.js';

/** Checks that every deposit has the postings of its state and no others, and that accounts have the sum of their deposits. */
export const auditDeposits: RecordAudit = {
  pages: [auditPages(deposits, ({ records }) => records.flatMap(checkDeposit))],
  tenant: auditTenant,
};

function stepsOfDeposit(deposit: Deposit & RecordWithPostings): Steps {
  const steps = stepsOf(deposit);
  const fromSuspense = steps.includes('suspense');
  const credit = fromSuspense ? ['suspense', 'assign'] : ['credit'];
  switch (deposit.state) {
    case 'received':
      return { must: [], may: [] };
    case 'credited':
      return { must: credit, may: [] };
    case 'suspended':
      return { must: ['suspense'], may: [] };
    case 'returned':
      return { must: ['suspense', 'return'], may: [] };
    case 'reversed':
      if (deposit.moved_to) return { must: ['suspense', 'move'], may: [] };
      if (steps.length === 0) return { must: [], may: [] };
      return steps.includes('suspense-reversal')
        ? { must: ['suspense', 'suspense-reversal'], may: [] }
        : { must: [...credit, 'reversal'], may: [] };
  }
}

function checkDeposit(deposit: Deposit & RecordWithPostings): string[] {
  const { _id: id, state, amount_minor: amountMinor } = deposit;
  const problems = [...checkSteps(deposit, stepsOfDeposit(deposit))];
  if (amountMinor !== null) {
    const known = { ...deposit, amount_minor: amountMinor };
    const at = deposit.created_at;
    const owedIn = (step: string) =>
      deposit.postings
        .filter(({ _id }) => _id === `${id}/${step}`)
        .flatMap(({ legs }) => legs)
        .find(({ account }) => account === accounts.receivable(deposit.tenant_id))?.amount_minor ??
      0n;
    const legsOf = (step: string) => {
      const owed = owedIn(step);
      const wallet = { availableMinor: amountMinor + owed, receivableMinor: owed };
      return moveDeposit(known, step as DepositStep, at, wallet).posting;
    };
    const expected = stepsOf(deposit).map((step) => [step, legsOf(step)] as const);
    problems.push(...checkLegs(deposit, Object.fromEntries(expected), 'deposit'));
  }
  if (needsWorkflow(deposit) && deposit.next_check_at === null) {
    problems.push(`${id} is ${state} and has no next check`);
  }
  return problems;
}

async function auditTenant({
  db,
  collections,
  session,
  tenantId,
}: TenantBooks): Promise<TenantAudit> {
  const states: { created_at: Date; status: string }[] = [];
  const totals = new Map<string, bigint>();
  const found = collections
    .records(deposits)
    .find(
      { tenant_id: tenantId },
      { session, projection: { created_at: 1, state: 1, virtual_account_id: 1, amount_minor: 1 } },
    );
  for await (const { created_at: at, state, virtual_account_id: id, amount_minor } of found) {
    states.push({ created_at: at, status: state });
    if (state === 'credited' && id !== null && amount_minor !== null) {
      totals.set(id, (totals.get(id) ?? 0n) + amount_minor);
    }
  }
  const problems = compareCounts(
    depositCounts.counter.name,
    await depositCounts.read(db, tenantId, session),
    states,
  );
  const all = collections
    .records(virtualAccounts)
    .find({ tenant_id: tenantId }, { session, projection: { total_received_minor: 1 } });
  for await (const { _id, total_received_minor: total } of all) {
    const real = totals.get(_id) ?? 0n;
    if (total !== real) problems.push(`${_id} has received ${total}, its deposits are ${real}`);
  }
  return { problems, held: new Map() };
}
