import { compareCounts } from '../../core/commit/daily-counts.js';
import { needsWorkflow } from '../../core/instructions/instruction.js';
import {
  auditPages,
  checkSteps,
  type RecordAudit,
  type RecordWithPostings,
  type TenantAudit,
  type TenantBooks,
} from '../../core/ledger/audit-checks.js';
import {
  accountCounts,
  accountCustomerId,
  accountCustomers,
  isOpenState,
  virtualAccounts,
  type VirtualAccount,
} from './record.js';

/** Checks the states of accounts, the counts of lists, and the number of open accounts of each customer. */
export const auditVirtualAccounts: RecordAudit = {
  pages: [auditPages(virtualAccounts, ({ records }) => records.flatMap(checkAccount))],
  tenant: auditTenant,
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

async function auditTenant({
  db,
  collections,
  session,
  tenantId,
}: TenantBooks): Promise<TenantAudit> {
  const states: { created_at: Date; status: string }[] = [];
  const open = new Map<string, number>();
  const found = collections
    .records(virtualAccounts)
    .find(
      { tenant_id: tenantId },
      { session, projection: { created_at: 1, state: 1, customer_id: 1 } },
    );
  for await (const { created_at: at, state, customer_id: customerId } of found) {
    states.push({ created_at: at, status: state });
    const id = accountCustomerId(tenantId, customerId);
    open.set(id, (open.get(id) ?? 0) + (isOpenState(state) ? 1 : 0));
  }
  const problems = compareCounts(
    accountCounts.counter.name,
    await accountCounts.read(db, tenantId, session),
    states,
  );
  const customers = collections
    .records(accountCustomers)
    .find({ tenant_id: tenantId }, { session });
  for await (const customer of customers) {
    const real = open.get(customer._id) ?? 0;
    if (customer.open === real) continue;
    problems.push(`a customer of ${tenantId} counts ${customer.open} open accounts, not ${real}`);
  }
  return { problems, held: new Map() };
}
