import type { DailyCountsDocument } from '../../core/commit/daily-counts.js';
import { needsWorkflow } from '../../core/instructions/instruction.js';
import {
  auditPages,
  checkLegs,
  checkSteps,
  stepsOf,
  type RecordAudit,
  type RecordWithPostings,
  type PortionAudit,
  type Steps,
} from '../../core/ledger/audit-checks.js';
import { auditCounts } from '../../core/ledger/audit-counts.js';
import { accounts } from '../../core/ledger/posting.js';
import { virtualAccounts, type VirtualAccount } from '../virtual-accounts/record.js';
import { depositCounts, deposits, LIST_INDEXES, type Deposit } from './record.js';
import { moveDeposit, type DepositStep } from './postings.js';

/** Checks that every deposit has the postings of its state and no others, and that accounts have the sum of their deposits. */
export const auditDeposits: RecordAudit = {
  pages: [auditPages(deposits, ({ records }) => records.flatMap(checkDeposit))],
  portions: {
    [depositCounts.counter.name]: auditCounts<DailyCountsDocument>({
      name: depositCounts.counter.name,
      records: deposits.name,
      status: 'state',
      byStatus: LIST_INDEXES.byState,
      whole: ({ all }) => all,
    }),
    account_totals: (of, after) => auditTotals(of, after),
  },
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

/** Accounts whose deposits are added up at one moment. */
const ACCOUNTS = 500;

/** Compares what accounts say that they have received with their deposits. The server adds these up. */
const auditTotals: PortionAudit = async ({ db, session, tenantId }, after) => {
  const place = after === '' ? null : (JSON.parse(after) as { at: string; id: string });
  const at = place && new Date(place.at);
  const accounts = await db
    .collection<VirtualAccount>(virtualAccounts.name)
    .find(
      {
        tenant_id: tenantId,
        ...(at && {
          created_at: { $gte: at },
          $nor: [{ created_at: at, _id: { $lte: place.id } }],
        }),
      },
      { session, projection: { total_received_minor: 1, created_at: 1 } },
    )
    .sort({ created_at: 1, _id: 1 })
    .limit(ACCOUNTS)
    .toArray();
  const credited = {
    tenant_id: tenantId,
    virtual_account_id: { $in: accounts.map(({ _id }) => _id) },
    state: 'credited',
  };
  const sums = db
    .collection(deposits.name)
    .aggregate<{ _id: string; sum: bigint | number }>(
      [
        { $match: credited },
        { $group: { _id: '$virtual_account_id', sum: { $sum: '$amount_minor' } } },
      ],
      { session, hint: LIST_INDEXES.byAccountState },
    );
  const totals = new Map<string, bigint>();
  for await (const { _id, sum } of sums) totals.set(_id, BigInt(sum));
  const problems = accounts.flatMap(({ _id, total_received_minor: total }) => {
    const real = totals.get(_id) ?? 0n;
    return total === real ? [] : [`${_id} has received ${total}, its deposits are ${real}`];
  });
  const last = accounts.length === ACCOUNTS ? accounts.at(-1) : undefined;
  const next = last && JSON.stringify({ at: last.created_at, id: last._id });
  return { next: next ?? null, problems };
};
