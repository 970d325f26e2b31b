import type { DailyCountsDocument } from '../../core/commit/daily-counts.js';
import { needsWorkflow } from '../../core/instructions/instruction.js';
import {
  auditPages,
  checkSteps,
  type RecordAudit,
  type PortionAudit,
  type RecordWithPostings,
} from '../../core/ledger/audit-checks.js';
import { auditCounts } from '../../core/ledger/audit-counts.js';
import { idsUnder } from '../../core/ledger/days.js';
import { BY_ID } from '../../platform/database/tenant-filters.js';
import {
  accountCounts,
  accountCustomerId,
  accountCustomers,
  ACCOUNT_STATES,
  BY_CUSTOMER,
  isOpenState,
  STATE_INDEXES,
  virtualAccounts,
  type AccountCustomer,
  type VirtualAccount,
} from './record.js';

/** Checks the states of accounts, the counts of lists, and the number of open accounts of each customer. */
export const auditVirtualAccounts: RecordAudit = {
  pages: [auditPages(virtualAccounts, ({ records }) => records.flatMap(checkAccount))],
  portions: {
    [accountCounts.counter.name]: auditCounts<DailyCountsDocument>({
      name: accountCounts.counter.name,
      records: virtualAccounts.name,
      status: 'state',
      byStatus: STATE_INDEXES.created_at,
      whole: ({ all }) => all,
    }),
    account_customers: (of, after) => auditCustomers(of, after),
  },
};

function checkAccount(account: VirtualAccount & RecordWithPostings): string[] {
  const { _id: id, state, account_number: number } = account;
  const problems = checkSteps(account, { must: [], may: [] });
  if (needsWorkflow(account) && account.next_check_at === null) {
    problems.push(`${id} is ${state} and has no next check`);
  }
  if (isOpenState(state) && (state === 'pending') !== (number === null)) {
    problems.push(`${id} is ${state} and has ${number === null ? 'no' : 'a'} number`);
  }
  return problems;
}

/** Customers whose accounts are counted at one moment. */
const CUSTOMERS = 500;

/** Compares the numbers of open accounts that customers have stored with their accounts. The server counts these. */
const auditCustomers: PortionAudit = async ({ db, session, tenantId }, after) => {
  const customers = await db
    .collection<AccountCustomer>(accountCustomers.name)
    .find(
      {
        _id: { ...idsUnder(tenantId), ...(after !== '' && { $gt: after }) },
        tenant_id: tenantId,
      },
      { session, ...BY_ID },
    )
    .sort({ _id: 1 })
    .limit(CUSTOMERS)
    .toArray();
  const theirs = {
    tenant_id: tenantId,
    customer_id: { $in: customers.map(({ _id }) => _id.slice(tenantId.length + 1)) },
    state: { $in: ACCOUNT_STATES.filter(isOpenState) },
  };
  const groups = db
    .collection(virtualAccounts.name)
    .aggregate<{ _id: string; count: number }>(
      [{ $match: theirs }, { $group: { _id: '$customer_id', count: { $sum: 1 } } }],
      { session, hint: BY_CUSTOMER },
    );
  const open = new Map<string, number>();
  for await (const { _id, count } of groups) open.set(accountCustomerId(tenantId, _id), count);
  const problems = customers.flatMap(({ _id, open: counted }) => {
    const real = open.get(_id) ?? 0;
    return counted === real
      ? []
      : [`a customer of ${tenantId} counts ${counted} open accounts, not ${real}`];
  });
  const last = customers.length === CUSTOMERS ? customers.at(-1) : undefined;
  return { next: last?._id ?? null, problems };
};
