import type { Db } from 'mongodb';
import { report, type Findings } from './audit-checks.js';
import { balancesAt } from './balance.js';
import type { ClosedDayDocument, ClosingDocument } from './collections.js';
import { byBytes, closingCollections, endOfDay, idsUnder, startOfDay } from './days.js';
import { KEPT_ACCOUNTS, readMovements, type Movement, type Movements } from './movements.js';
import { BY_ID } from '../../platform/database/tenant-filters.js';

type DayAudit = Findings & { day: string; postings: number };

/** Days that are read at once. */
const DAYS = 100;
/** Closings that are read at once, and the balances of their accounts before. */
const CLOSINGS = 500;
/** A closed day, and the last closed day before it. */
type Day = { closed: ClosedDayDocument; before: string | null; keptAccounts: number };

/**
 * Audits the closed days of a tenant, one after the other: the postings of the day balance and are those that were closed, each
 * closing equals its movements and continues the account's last closing, and no posting is dated on a day that was closed without it. A
 * closed day never changes, so no snapshot is needed, and `after` continues behind a day that is done. `from`: earlier days
 * count as given. Memory grows neither with the postings of the tenant nor with its accounts.
 */
export async function auditClosedDays(
  db: Db,
  {
    tenantId,
    from,
    after,
    keptAccounts = KEPT_ACCOUNTS,
  }: { tenantId: string; from: string | null; after: string | null; keptAccounts?: number },
  onDay: (result: DayAudit) => Promise<void>,
): Promise<void> {
  const { days } = closingCollections(db);
  let begin: { $gt: string; $gte?: string } = { $gt: after ?? '', $gte: from ?? '' };
  let before: string | null | undefined;
  for (;;) {
    // Batch by batch: MongoDB ends a cursor that waits for ten minutes.
    const batch = days.find({ tenant_id: tenantId, day: begin }).sort({ day: 1 }).limit(DAYS);
    const found = await batch.toArray();
    for (const closed of found) {
      before ??= await closedDayBefore(db, closed);
      const findings = await auditDay(db, { closed, before, keptAccounts });
      await onDay({ day: closed.day, postings: closed.postings, ...findings });
      before = closed.day;
    }
    if (found.length < DAYS) return;
    begin = { $gt: before ?? '' };
  }
}

/** The last day before this one that is closed, or null. */
async function closedDayBefore(db: Db, { tenant_id, day }: ClosedDayDocument) {
  const last = await closingCollections(db).days.findOne(
    { tenant_id, day: { $lt: day } },
    { sort: { day: -1 }, projection: { day: 1 } },
  );
  return last?.day ?? null;
}

async function auditDay(db: Db, day: Day): Promise<Findings> {
  const audit = day.closed.archived ? auditArchivedDay : auditHotDay;
  const [late, findings] = await Promise.all([findLatePosting(db, day), audit(db, day)]);
  if (late) report(findings, [`${late._id} is dated on a day that was closed without it`]);
  return findings;
}

/** A posting between two closed days that follow each other, or null. */
function findLatePosting(db: Db, { closed: { tenant_id, day }, before }: Day) {
  const at = { ...(before !== null && { $gte: endOfDay(before) }), $lt: startOfDay(day) };
  const { postings } = closingCollections(db);
  return postings.findOne({ tenant_id, at }, { projection: { _id: 1 } });
}

/** Audits a day whose postings are in the database. */
async function auditHotDay(db: Db, day: Day): Promise<Findings> {
  const { closed, keptAccounts } = day;
  const { _id: id, tenant_id: tenantId } = closed;
  const { sums, movements } = await readMovements(db, { tenantId, day: closed.day, keptAccounts });
  const { unbalanced, digest, postings } = sums;
  const closings = await auditMovements(db, day, movements);
  const problems = unbalanced.map((posting) => `posting ${posting} does not balance`);
  if (digest !== closed.digest) {
    const found = `its ${postings} postings are not those`;
    problems.push(`${id} was closed with ${closed.postings} postings; ${found}`);
  }
  const findings: Findings = { problems, problemsFound: problems.length };
  report(findings, closings.problems, closings.problemsFound);
  return findings;
}

const UNMOVED: Movement = { debitsMinor: 0n, creditsMinor: 0n, postings: 0 };

/** Compares the closings of a day with the movements of its accounts. Both come in the order of accounts. */
async function auditMovements(db: Db, day: Day, movements: Movements): Promise<Findings> {
  const findings: Findings = { problems: [], problemsFound: 0 };
  const { closed } = day;
  let moved = await movements.next();
  /** Passes over accounts without a closing. */
  const pass = async (isOne: (account: string) => boolean) => {
    while (moved && isOne(moved._id)) {
      report(findings, [`${closed._id}/${moved._id} has no closing`]);
      moved = await movements.next();
    }
  };
  for await (const { account, closing } of auditedClosings(db, day, findings)) {
    await pass((other) => byBytes(other, account) < 0);
    const same = moved?._id === account ? moved : null;
    report(findings, checkMovement(closing, same ?? UNMOVED));
    if (same) moved = await movements.next();
  }
  await pass(() => true);
  return findings;
}

/**
 * Audits a day whose postings are in a file: its closings continue those before, and their debits are their credits. The
 * postings were compared with the closings before they were removed.
 */
async function auditArchivedDay(db: Db, day: Day): Promise<Findings> {
  const { _id: id, tenant_id, day: date, archived } = day.closed;
  const findings: Findings = { problems: [], problemsFound: 0 };
  let sum = 0n;
  for await (const { closing } of auditedClosings(db, day, findings)) {
    sum += closing.credits_minor - closing.debits_minor;
  }
  if (sum !== 0n) report(findings, [`the closings of ${id} sum to ${sum} instead of 0`]);
  if (archived?.removed_at) {
    const at = { $gte: startOfDay(date), $lt: endOfDay(date) };
    const left = await closingCollections(db).postings.findOne({ tenant_id, at });
    if (left) report(findings, [`${left._id} is dated on a day that is archived`]);
  }
  return findings;
}

/**
 * The closings of a day in the order of accounts, batch by batch; each is compared with the closing before it, and their number
 * with that of the day. The account is that of the id.
 */
async function* auditedClosings(
  db: Db,
  { closed, before }: Day,
  findings: Findings,
): AsyncGenerator<{ account: string; closing: ClosingDocument }> {
  const { _id: id, tenant_id: tenantId, day } = closed;
  const { $gte: begin, $lt: end } = idsUnder(id);
  let [accounts, after] = [0, begin];
  for (;;) {
    const batch = await closingCollections(db)
      .closings.find({ tenant_id: tenantId, _id: { $gt: after, $lt: end } }, BY_ID)
      .sort({ _id: 1 })
      .limit(CLOSINGS)
      .toArray();
    const theirs = batch.map((closing) => closing._id.slice(begin.length));
    const openings = await balancesAt(db, { tenantId, closedDay: before }, theirs);
    for (const [nth, closing] of batch.entries()) {
      const account = theirs[nth] ?? '';
      report(findings, checkClosing(closing, { account, day }, openings.get(account) ?? 0n));
      yield { account, closing };
    }
    accounts += batch.length;
    after = batch.at(-1)?._id ?? after;
    if (batch.length < CLOSINGS) break;
  }
  if (accounts !== closed.accounts) {
    const was = `${id} was closed with ${closed.accounts} accounts`;
    report(findings, [`${was}, it has ${accounts}`]);
  }
}

function checkMovement(closing: ClosingDocument, moved: Movement): string[] {
  const { _id: id, debits_minor: debits, credits_minor: credits, postings } = closing;
  return debits === moved.debitsMinor &&
    credits === moved.creditsMinor &&
    postings === moved.postings
    ? []
    : [
        `${id} says ${debits} debits and ${credits} credits in ${postings} postings, ` +
          `the postings ${moved.debitsMinor} and ${moved.creditsMinor} in ${moved.postings}`,
      ];
}

/** Checks that a closing is that of its account and day, continues the one before, and follows from its movements. */
function checkClosing(
  closing: ClosingDocument,
  { account, day }: { account: string; day: string },
  openingMinor: bigint,
): string[] {
  const { _id: id, opening_minor: opening, closing_minor: balance } = closing;
  const { debits_minor: debits, credits_minor: credits } = closing;
  const problems: string[] = [];
  if (closing.account !== account || closing.day !== day) {
    problems.push(`${id} names ${closing.account} on ${closing.day}`);
  }
  if (opening !== openingMinor) {
    problems.push(`${id} opens at ${opening}, the closing before it is ${openingMinor}`);
  }
  if (balance !== opening + credits - debits) {
    problems.push(`${id} closes at ${balance}, its movements give ${opening + credits - debits}`);
  }
  return problems;
}
