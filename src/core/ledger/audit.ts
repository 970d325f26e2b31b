import { withSnapshot, type Database } from '../../platform/database/client.js';
import { report, type Findings, type RecordAudit } from './audit-checks.js';
import { auditClosedDays } from './audit-days.js';
import { auditPage } from './audit-records.js';
import { auditTenant } from './audit-tenant.js';
import { nextTenants } from './days.js';

const TENANTS = 100;
/** Tenants are small reads, of which several are in flight. */
const TENANTS_AT_ONCE = 8;

/** The part of the ledger to audit. By default everything. */
export type AuditScope = {
  /** One tenant only. */
  tenantId?: string | null;
  /** The first closed day whose postings are read, `YYYY-MM-DD`; records are those that changed since. */
  from?: string | null;
};

/** The step that an audit has reached. */
type Position =
  /** The closed days of tenants up to `tenant` are done, and of the next one those up to `day`. */
  | { step: 'days'; tenant: string; day: string | null }
  /** Tenants up to this id are done. */
  | { step: 'tenants'; tenant: string }
  /**
   * Of tenants up to `tenant` all is done, of the next one the audits `done`, and of that in `at` the portions up to `after`. An
   * earlier release kept the place of an audit in its list, which may be another one's here: its states have no `done`.
   */
  | {
      step: 'portions';
      tenant: string;
      done?: readonly string[];
      at?: { audit: string; after: string } | null;
    }
  /** The page audits before this one are done, and of this one the records up to `after`. */
  | { step: 'records'; page: number; after: string }
  | { step: 'ended' };

/** A position in the audit, and all that it has found before it. */
export type AuditState = Findings & {
  position: Position;
  postings: number;
  closedDays: number;
  /** The number of audited records by collection. */
  counts: Record<string, number>;
  /** Balances of the accounts that tenants share, as text. */
  shared: Record<string, string>;
  sum: string;
};

/** The state of an audit that has not begun. */
export const newAudit = (): AuditState => ({
  position: { step: 'days', tenant: '', day: null },
  postings: 0,
  closedDays: 0,
  counts: {},
  shared: {},
  sum: '0',
  problems: [],
  problemsFound: 0,
});

/** The result of the ledger audit. */
type AuditReport = Findings & {
  postings: number;
  closedDays: number;
  /** The number of audited records of each kind. */
  counts: Record<string, number>;
  /** Balances of the accounts that tenants share, such as `fees` and `clearing:<provider>`. */
  balances: Map<string, bigint>;
  /** The sum of all accounts, which is zero if the ledger is correct. */
  sumMinor: bigint;
};

type Run = {
  database: Database;
  audits: readonly RecordAudit[];
  scope: AuditScope;
  state: AuditState;
  save: () => Promise<void>;
};

/**
 * Audits the ledger in steps, each of which reads one moment or what never changes, so that neither its time nor its memory
 * is bounded by the size of the ledger:
 *
 * 1. Each closed day of each tenant: its postings balance and equal its closings, which follow from those before.
 * 2. Each tenant at one moment: closings and later postings equal its wallet and what its open records hold there.
 * 3. Cards with what is held on them, and sums of records that are stored, such as the counts of lists: portion by portion,
 *    each at one moment.
 * 4. Records page by page: each has the postings of its status and no others.
 *
 * `state` continues an audit that has ended early. `onState` gets the state after each step.
 */
export async function auditLedger(
  database: Database,
  audits: readonly RecordAudit[],
  {
    scope = {},
    state = newAudit(),
    onState,
  }: {
    scope?: AuditScope;
    state?: AuditState;
    onState?: (state: AuditState) => Promise<void>;
  } = {},
): Promise<AuditReport> {
  const save = async () => onState?.(state);
  const run: Run = { database, audits, scope, state, save };
  await auditDays(run);
  await auditTenants(run);
  await auditPortions(run);
  await auditRecords(run);
  return reportOf(state);
}

/** The report of a state. */
function reportOf(state: AuditState): AuditReport {
  const { postings, closedDays, counts, problems, problemsFound } = state;
  const balances = new Map(
    Object.entries(state.shared).map(([account, balance]) => [account, BigInt(balance)]),
  );
  const sumMinor = BigInt(state.sum);
  return { postings, closedDays, counts, balances, sumMinor, problems, problemsFound };
}

/** The next tenants of the scope. */
async function tenantsAfter({ database, scope }: Run, after: string, limit: number) {
  const { tenantId } = scope;
  if (tenantId != null) return after < tenantId ? [tenantId] : [];
  return nextTenants(database.db, after, limit);
}

async function auditDays(run: Run): Promise<void> {
  const { database, scope, state, save } = run;
  if (state.position.step !== 'days') return;
  let { tenant: after, day: begin } = state.position;
  for (;;) {
    const tenants = await tenantsAfter(run, after, TENANTS);
    if (tenants.length === 0) break;
    for (const tenantId of tenants) {
      const of = { tenantId, from: scope.from ?? null, after: begin };
      const before = after;
      await auditClosedDays(database.db, of, async ({ day, postings, problems, problemsFound }) => {
        state.position = { step: 'days', tenant: before, day };
        state.closedDays += 1;
        state.postings += postings;
        report(state, problems, problemsFound);
        await save();
      });
      after = tenantId;
      begin = null;
    }
    state.position = { step: 'days', tenant: after, day: null };
    await save();
  }
  state.position = { step: 'tenants', tenant: '' };
  await save();
}

async function auditTenants(run: Run): Promise<void> {
  const { database, audits, state, save } = run;
  while (state.position.step === 'tenants') {
    const tenants = await tenantsAfter(run, state.position.tenant, TENANTS_AT_ONCE);
    const last = tenants.at(-1);
    const results = await Promise.all(
      tenants.map((tenantId) =>
        withSnapshot(database, (db, session) => auditTenant({ db, session, tenantId, audits })),
      ),
    );
    for (const { openPostings, problems, balances } of results) {
      state.postings += openPostings;
      report(state, problems);
      addShared(state, balances);
    }
    state.position =
      last === undefined ? { step: 'portions', tenant: '' } : { step: 'tenants', tenant: last };
    await save();
  }
}

async function auditPortions(run: Run): Promise<void> {
  const { database, audits, state, save } = run;
  if (state.position.step !== 'portions') return;
  const portions = audits.flatMap((audit) => Object.entries(audit.portions ?? {}));
  let { tenant, at = null } = state.position;
  const done = new Set(state.position.done);
  for (;;) {
    const tenants = await tenantsAfter(run, tenant, TENANTS);
    if (tenants.length === 0) break;
    for (const tenantId of tenants) {
      for (const [audit, check] of portions) {
        if (done.has(audit)) continue;
        let after: string | null = at?.audit === audit ? at.after : '';
        while (after !== null) {
          const place: string = after;
          const result = await withSnapshot(database, (db, session) =>
            check({ db, session, tenantId }, place),
          );
          report(state, result.problems);
          after = result.next;
          if (after === null) done.add(audit);
          state.position = {
            step: 'portions',
            tenant,
            done: [...done],
            at: after === null ? null : { audit, after },
          };
          await save();
        }
      }
      tenant = tenantId;
      done.clear();
      at = null;
    }
    state.position = { step: 'portions', tenant };
    await save();
  }
  state.position = { step: 'records', page: 0, after: '' };
  await save();
}

/** Keeps the balances of accounts that tenants share. Those of one tenant are checked with it, and are too many. */
function addShared(state: AuditState, balances: ReadonlyMap<string, bigint>): void {
  let sum = BigInt(state.sum);
  for (const [account, balance] of balances) {
    sum += balance;
    if (/^(wallet|receivable|card):/.test(account)) continue;
    state.shared[account] = String(BigInt(state.shared[account] ?? 0) + balance);
  }
  state.sum = String(sum);
}

async function auditRecords({ database, audits, scope, state, save }: Run): Promise<void> {
  const pages = audits.flatMap((audit) => audit.pages);
  while (state.position.step === 'records') {
    const { page, after } = state.position;
    const audit = pages[page];
    if (audit) {
      const { read, last, problems } = await auditPage(database, audit, scope, after);
      const { name } = audit.collection;
      // Two capabilities may look at one collection.
      const isFirst = pages.findIndex(({ collection }) => collection.name === name) === page;
      if (isFirst) state.counts[name] = (state.counts[name] ?? 0) + read;
      report(state, problems);
      state.position =
        last === null
          ? { step: 'records', page: page + 1, after: '' }
          : { step: 'records', page, after: last };
    } else {
      state.position = { step: 'ended' };
    }
    await save();
  }
}
