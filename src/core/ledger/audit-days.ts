import type { Db } from 'mongodb';
import type { ClosedDayDocument, ClosingDocument } from './collections.js';
import { lastClosings } from './balance.js';
import {
  closingCollections,
  endOfDay,
  idsUnder,
  startOfDay,
  sumDay,
  type DaySums,
} from './days.js';
import { BY_ID } from '../../platform/database/tenant-filters.js';

type DayAudit = { day: string; postings: number; problems: string[] };

/**
 * Audits the closed days of a tenant, one after the other: the postings of the day balance and are those that were closed, each
 * closing equals its movements and continues the account's last closing, and no posting is dated on a day that was closed without it. A
 * closed day never changes, so no snapshot is needed, and `after` continues behind a day that is done. `from`: earlier days
 * count as given.
 */
export async function auditClosedDays(
  db: Db,
  { tenantId, from, after }: { tenantId: string; from: string | null; after: string | null },
  onDay: (result: DayAudit) => Promise<void>,
): Promise<void> {
  const { days } = closingCollections(db);
  const begin = { ...(from !== null && { $gte: from }), ...(after !== null && { $gt: after }) };
  const filter = { tenant_id: tenantId, ...(Object.keys(begin).length > 0 && { day: begin }) };
  let previous: { balances: Map<string, bigint>; day: string | null } | null = null;
  for await (const closed of days.find(filter).sort({ day: 1 })) {
    previous ??= await balancesBefore(db, tenantId, closed.day);
    const late = await findLatePosting(db, tenantId, previous.day, closed.day);
    const problems = [
      ...(late === null ? [] : [`${late} is dated on a day that was closed without it`]),
      ...(closed.archived
        ? await auditArchivedDay(db, closed, previous.balances)
        : await auditHotDay(db, closed, previous.balances)),
    ];
    previous.day = closed.day;
    await onDay({ day: closed.day, postings: closed.postings, problems });
  }
}

/** The balances of a tenant at the beginning of a day, and its last closed day before. */
async function balancesBefore(db: Db, tenantId: string, day: string) {
  const { days } = closingCollections(db);
  const last = await days.findOne(
    { tenant_id: tenantId, day: { $lt: day } },
    { sort: { day: -1 }, projection: { day: 1 } },
  );
  const closings = last ? await lastClosings(db, { tenantId }, last.day) : [];
  return {
    day: last?.day ?? null,
    balances: new Map(closings.map(({ _id, sum }) => [_id, sum])),
  };
}

/** A posting between two closed days that follow each other, or null. */
async function findLatePosting(db: Db, tenantId: string, before: string | null, day: string) {
  const at = { ...(before !== null && { $gte: endOfDay(before) }), $lt: startOfDay(day) };
  const found = await closingCollections(db).postings.findOne(
    { tenant_id: tenantId, at },
    { projection: { _id: 1 } },
  );
  return found?._id ?? null;
}

/** Audits a day whose postings are in the database. */
async function auditHotDay(db: Db, closed: ClosedDayDocument, balances: Map<string, bigint>) {
  const sums = await sumDay(db, closed.tenant_id, closed.day);
  return [
    ...sums.unbalanced.map((id) => `posting ${id} does not balance`),
    ...(await auditDay(db, closed, sums, balances)),
  ];
}

/**
 * Audits a day whose postings are in a file: its closings continue those before, and their debits are their credits. The
 * postings were compared with the closings before they were removed.
 */
async function auditArchivedDay(db: Db, closed: ClosedDayDocument, balances: Map<string, bigint>) {
  const { _id: id, tenant_id: tenantId, day, archived } = closed;
  const problems: string[] = [];
  let [accounts, sum] = [0, 0n];
  const theirs = { tenant_id: tenantId, _id: idsUnder(id) };
  for await (const closing of closingCollections(db).closings.find(theirs, BY_ID)) {
    accounts += 1;
    sum += closing.credits_minor - closing.debits_minor;
    problems.push(...auditChain(closing, balances.get(closing.account) ?? 0n));
    balances.set(closing.account, closing.closing_minor);
  }
  if (accounts !== closed.accounts) problems.push(wrongAccounts(closed, accounts));
  if (sum !== 0n) problems.push(`the closings of ${id} sum to ${sum} instead of 0`);
  if (archived?.removed_at) {
    const left = await closingCollections(db).postings.findOne({
      tenant_id: tenantId,
      at: { $gte: startOfDay(day), $lt: endOfDay(day) },
    });
    if (left) problems.push(`${left._id} is dated on a day that is archived`);
  }
  return problems;
}

const wrongAccounts = ({ _id: id, accounts }: ClosedDayDocument, found: number) =>
  `${id} was closed with ${accounts} accounts, it has ${found}`;

/** Compares the closings of a day with its postings, and moves the balances on to the end of the day. */
async function auditDay(
  db: Db,
  closed: ClosedDayDocument,
  sums: DaySums,
  balances: Map<string, bigint>,
): Promise<string[]> {
  const problems: string[] = [];
  const id = closed._id;
  if (sums.digest !== closed.digest) {
    problems.push(
      `${id} was closed with ${closed.postings} postings; its ${sums.postings} postings are not those`,
    );
  }
  const unseen = new Set(sums.movements.keys());
  let accounts = 0;
  const theirs = { tenant_id: closed.tenant_id, _id: idsUnder(id) };
  for await (const closing of closingCollections(db).closings.find(theirs, BY_ID)) {
    accounts += 1;
    unseen.delete(closing.account);
    problems.push(...auditClosing(closing, sums, balances.get(closing.account) ?? 0n));
    balances.set(closing.account, closing.closing_minor);
  }
  if (accounts !== closed.accounts) {
    problems.push(wrongAccounts(closed, accounts));
  }
  return [...problems, ...[...unseen].map((account) => `${id}/${account} has no closing`)];
}

function auditClosing(closing: ClosingDocument, sums: DaySums, openingMinor: bigint): string[] {
  const { _id: id, account, debits_minor: debits, credits_minor: credits, postings } = closing;
  const moved = sums.movements.get(account) ?? { debitsMinor: 0n, creditsMinor: 0n, postings: 0 };
  const problems = auditChain(closing, openingMinor);
  if (
    debits !== moved.debitsMinor ||
    credits !== moved.creditsMinor ||
    postings !== moved.postings
  ) {
    problems.push(
      `${id} says ${debits} debits and ${credits} credits in ${postings} postings, ` +
        `the postings ${moved.debitsMinor} and ${moved.creditsMinor} in ${moved.postings}`,
    );
  }
  return problems;
}

/** Checks that a closing continues the one before, and follows from its movements. */
function auditChain(closing: ClosingDocument, openingMinor: bigint): string[] {
  const { _id: id, opening_minor: opening, closing_minor: balance } = closing;
  const { debits_minor: debits, credits_minor: credits } = closing;
  const problems: string[] = [];
  if (opening !== openingMinor) {
    problems.push(`${id} opens at ${opening}, the closing before it is ${openingMinor}`);
  }
  if (balance !== opening + credits - debits) {
    problems.push(`${id} closes at ${balance}, its movements give ${opening + credits - debits}`);
  }
  return problems;
}
