import type { Db, Filter, FindCursor } from 'mongodb';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import type { PostingDocument } from '../ledger/collections.js';
import { DAY_MS } from '../../shared/durations.js';
import { groupBy } from '../../shared/group.js';
import { accounts, FEES_OF_ALL_PROVIDERS } from '../ledger/posting.js';
import type { FoundBreak } from './break.js';
import type { Breaks } from './breaks.js';
import {
  judge,
  unionOfRows,
  type Finding,
  type Moved,
  type Movement,
  type Period,
  type Span,
} from './judgement.js';
import {
  ROWS_OF_RECORD,
  ROWS_OF_RUN,
  rowId,
  type RowDocument,
  type StatementRun,
  type Verdicts,
} from './statement.js';
import type { Statements } from './statements.js';

/** The parts that a comparison of a statement needs. */
export type MatchingDeps = {
  db: Db;
  statements: Statements;
  breaks: Pick<Breaks, 'note'>;
  /** Those of these records that exist. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** The capability of a record by its id; null for an id of no record. */
  capabilityOf(id: string): string | null;
  tenants: readonly string[];
  /** Told of the number of rows and movements that were compared. */
  onProgress?(compared: number): void;
};

/** Records that are compared at once. */
const BATCH = 500;

/**
 * A return of a payment from suspense is booked this long before or after its row at most. One that is further away is a break
 * of its refund.
 */
const RETURN_WITHIN_MS = 7 * DAY_MS;

type Booked = { tenantId: string; movements: Movement[] };

/** `returnsOf`: the ids of the postings by which these refunds have returned payments from suspense. */
type Parts = MatchingDeps & { returnsOf: (refunds: readonly string[]) => Promise<string[]> };

/** The sums of a comparison. */
type Totals = { records: number; breaks: number; clearingMinor: bigint; inFlightMinor: bigint };

/**
 * Compares a statement with the clearing account of its provider, record by record, in constant memory. It keeps the breaks,
 * and returns the verdicts. A repeat finds the same. A movement of ours has to be in the statement if it is within the period.
 */
export async function matchStatement(given: MatchingDeps, run: StatementRun): Promise<Verdicts> {
  const { from, to } = await periodOf(given, run);
  const period = { from, to, slackMs: run.slack_ms };
  const deps: Parts = { ...given, returnsOf: createReturnsOf(given, run.provider, period) };
  const totals: Totals = { records: 0, breaks: 0, clearingMinor: 0n, inFlightMinor: 0n };
  await matchRows(deps, run, period, totals);
  for (const tenantId of deps.tenants) {
    await matchMovements(deps, { run, period, tenantId }, totals);
  }
  const verdicts = verdictsOf(run, totals);
  if (verdicts.complete.ok) await closeGaps(deps, { ...run, from, to });
  await deps.statements.end({ _id: run._id, from, to }, verdicts);
  return verdicts;
}

/** The period of a statement: as it was given, or from its first row to its last one. */
async function periodOf({ statements }: MatchingDeps, run: StatementRun) {
  const { from, to } = run;
  if (from && to) return { from, to };
  const found = await statements.rows
    .aggregate<{ from: Date; to: Date }>(
      [
        { $match: { run: run._id } },
        { $group: { _id: null, from: { $min: '$at' }, to: { $max: '$at' } } },
      ],
      { hint: ROWS_OF_RUN },
    )
    .toArray();
  const epoch = new Date(0);
  return { from: from ?? found[0]?.from ?? epoch, to: to ?? found[0]?.to ?? epoch };
}

/** A complete statement closes the gaps of those that it covers. */
async function closeGaps(
  { statements, breaks }: MatchingDeps,
  run: StatementRun & { from: Date; to: Date },
): Promise<void> {
  const { provider, from, to } = run;
  for (const covered of await statements.within(provider, from, to)) {
    const references = covered.gap_lines.map((line) => rowId(covered._id, line));
    await breaks.note({ source: 'statement', provider, references, found: [] });
  }
}

/** Compares every record that the statement names. */
async function matchRows(deps: Parts, run: StatementRun, period: Period, totals: Totals) {
  const found = deps.statements.rows
    .find({ run: run._id, record: { $type: 'string' } })
    .sort({ record: 1 })
    .hint(ROWS_OF_RUN)
    .batchSize(2_000);
  for await (const own of batchesByRecord(found)) {
    const records = [...own.keys()];
    const others = await rowsOfOtherRuns(deps, run, records);
    const runs = [...others.values()].flat().map((row) => row.run);
    const spans = await deps.statements.spans(new Set([run._id, ...runs]));
    const booked = await bookedOf(deps, run.provider, records);
    const known = await deps.known(records.filter((record) => !booked.has(record)));
    const breaks: FoundBreak[] = [];
    for (const [record, rows] of own) {
      const { tenantId = null, movements = [] } = booked.get(record) ?? {};
      const sides = {
        rows: unionOfRows(
          [...rows, ...(others.get(record) ?? [])].map((row) => movedOf(row, spans)),
        ),
        movements,
        isKnown: booked.has(record) || known.has(record),
      };
      const finding = judge(sides, period);
      const [row] = rows;
      if (finding) breaks.push(breakOf(deps, run, { record, row, tenantId }, finding));
      else
        totals.inFlightMinor +=
          sumOf(rows.map((row) => movedOf(row, spans))) - sumWithin(movements, period);
    }
    totals.records += own.size;
    totals.breaks += breaks.length;
    const { provider } = run;
    await deps.breaks.note({ source: 'statement', provider, references: records, found: breaks });
    deps.onProgress?.(totals.records);
  }
}

async function* batchesByRecord(
  cursor: FindCursor<RowDocument>,
): AsyncGenerator<Map<string, RowDocument[]>> {
  let batch = new Map<string, RowDocument[]>();
  for await (const row of cursor) {
    const record = row.record ?? '';
    const rows = batch.get(record);
    if (rows) {
      rows.push(row);
      continue;
    }
    if (batch.size === BATCH) {
      yield batch;
      batch = new Map();
    }
    batch.set(record, [row]);
  }
  if (batch.size > 0) yield batch;
}

async function rowsOfOtherRuns(
  { statements }: MatchingDeps,
  { _id, provider }: StatementRun,
  records: readonly string[],
): Promise<Map<string, RowDocument[]>> {
  const found = await statements.rows
    .find({ provider, record: { $in: [...records] }, run: { $ne: _id } })
    .hint(ROWS_OF_RECORD)
    .toArray();
  return groupBy(found, ({ record }) => record ?? '');
}

const movedOf = (row: RowDocument, spans: ReadonlyMap<string, Span>): Moved => ({
  amountMinor: row.amount_minor,
  feeMinor: row.fee_minor,
  at: row.at,
  run: row.run,
  precisionMs: row.precision_ms,
  span: spans.get(row.run),
});

/** The movements of these records on the clearing account of a provider, the oldest first. Without any: known, not moved. */
async function bookedOf(
  { db, returnsOf }: Parts,
  provider: string,
  records: readonly string[],
): Promise<Map<string, Booked>> {
  const asked = new Set(records);
  const booked = new Map<string, Booked>();
  const note = async (filter: Filter<PostingDocument>) => {
    const found = db
      .collection<PostingDocument>('postings')
      .find(filter, acrossTenants('report'))
      .batchSize(2_000);
    for await (const posting of found) {
      const record = recordOf(posting);
      if (!asked.has(record)) continue;
      const of = booked.get(record) ?? { tenantId: posting.tenant_id, movements: [] };
      booked.set(record, of);
      const movement = movementOf(posting, provider);
      if (movement) of.movements.push(movement);
    }
  };
  // Ids of postings are `<record>/<step>`, and `0` is the character after the slash.
  const ranges = records.map((id) => ({ _id: { $gte: `${id}/`, $lt: `${id}0` } }));
  if (ranges.length > 0) await note({ $or: ranges });
  const unbooked = records.filter((id) => !booked.has(id));
  const returns = unbooked.length > 0 ? await returnsOf(unbooked) : [];
  if (returns.length > 0) await note({ _id: { $in: returns } });
  for (const { movements } of booked.values()) {
    movements.sort((a, b) => a.at.getTime() - b.at.getTime());
  }
  return booked;
}

/**
 * The return of a payment from suspense is booked on its charge, and its refund is what the provider moves. A number in place of
 * the refund is that of a correction of a transfer, which the provider moves under the transfer's own reference.
 */
const RETURN = /\/return-(?!\d+$)(.+?)(?:-back)?$/;

/** The record that moves the money of a posting at the provider. */
const recordOf = ({ _id }: Pick<PostingDocument, '_id'>): string =>
  RETURN.exec(_id)?.[1] ?? _id.slice(0, _id.indexOf('/'));

/** Reads the returns of a period from the postings once, when a record without postings of its own is asked for. */
function createReturnsOf(
  { db, tenants }: MatchingDeps,
  provider: string,
  { from, to }: Period,
): Parts['returnsOf'] {
  const at = {
    $gte: new Date(from.getTime() - RETURN_WITHIN_MS),
    $lte: new Date(to.getTime() + RETURN_WITHIN_MS),
  };
  const moved = { $all: [accounts.suspense, accounts.clearing(provider)] };
  const read = async () => {
    const found: { _id: string }[] = [];
    for (const tenant of tenants) {
      const filter = { tenant_id: tenant, at, 'legs.account': moved };
      const postings = db
        .collection<PostingDocument>('postings')
        .find(filter, { projection: { _id: 1 } });
      for await (const { _id } of postings) if (RETURN.test(_id)) found.push({ _id });
    }
    return groupBy(found, recordOf);
  };
  let reading: Promise<Map<string, { _id: string }[]>> | null = null;
  return async (refunds) => {
    const returns = await (reading ??= read());
    return refunds.flatMap((id) => (returns.get(id) ?? []).map(({ _id }) => _id));
  };
}

/** The effect of a posting on our balance at the provider: what leaves the clearing account arrives there. */
function movementOf({ legs, at }: PostingDocument, provider: string): Movement | null {
  const on = (account: string) =>
    legs.reduce((sum, leg) => sum + (leg.account === account ? leg.amount_minor : 0n), 0n);
  const amountMinor = -on(accounts.clearing(provider));
  const feeMinor = on(accounts.providerFees(provider)) + on(FEES_OF_ALL_PROVIDERS);
  return amountMinor === 0n && feeMinor === 0n ? null : { amountMinor, feeMinor, at };
}

const sumOf = (of: readonly { amountMinor: bigint }[]): bigint =>
  of.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);

const isWithin = ({ at }: { at: Date }, { from, to, slackMs }: Period, slack = 0): boolean =>
  at.getTime() >= from.getTime() + slack * slackMs &&
  at.getTime() <= to.getTime() - slack * slackMs;

const sumWithin = (movements: readonly Movement[], period: Period): bigint =>
  sumOf(movements.filter((each) => isWithin(each, period)));

type TenantsPart = { run: StatementRun; period: Period; tenantId: string };

/** Finds the movements of a tenant that the statement lacks, and sums the clearing account over the period. */
async function matchMovements(
  deps: Parts,
  { run, period, tenantId }: TenantsPart,
  totals: Totals,
): Promise<void> {
  const found = deps.db
    .collection<PostingDocument>('postings')
    .find({
      tenant_id: tenantId,
      at: { $gte: period.from, $lte: period.to },
      'legs.account': accounts.clearing(run.provider),
    })
    .sort({ at: 1, _id: 1 })
    .batchSize(2_000);
  let batch: PostingDocument[] = [];
  const end = async () => {
    await missingOf(deps, { run, period, tenantId }, batch, totals);
    batch = [];
  };
  for await (const posting of found) {
    totals.clearingMinor += movementOf(posting, run.provider)?.amountMinor ?? 0n;
    batch.push(posting);
    if (batch.length === BATCH) await end();
  }
  await end();
}

/** The movements of these postings whose records the statement does not name. */
async function missingOf(
  deps: Parts,
  { run, period, tenantId }: TenantsPart,
  postings: readonly PostingDocument[],
  totals: Totals,
): Promise<void> {
  const { provider } = run;
  const candidates = [...new Set(postings.map(recordOf))];
  if (candidates.length === 0) return;
  const rows = await deps.statements.rows
    .find({ provider, record: { $in: candidates } }, { projection: { _id: 0, record: 1, run: 1 } })
    .hint(ROWS_OF_RECORD)
    .toArray();
  const inThisRun = new Set(rows.flatMap((row) => (row.run === run._id ? [row.record] : [])));
  const anywhere = new Set(rows.map(({ record }) => record));
  const absent = candidates.filter((record) => !anywhere.has(record));
  const elsewhere = candidates.filter((each) => anywhere.has(each) && !inThisRun.has(each));
  const booked = await bookedOf(deps, provider, [...absent, ...elsewhere]);
  const breaks: FoundBreak[] = [];
  for (const [record, { movements }] of booked) {
    const within = movements.filter((each) => each.amountMinor !== 0n && isWithin(each, period));
    // A record with several movements is compared with the batch that has its first one.
    if (!postings.some((each) => recordOf(each) === record && isSame(each, within[0]))) continue;
    const expected = sumOf(within.filter((each) => isWithin(each, period, 1)));
    if (expected === 0n || anywhere.has(record)) totals.inFlightMinor -= sumOf(within);
    else breaks.push(breakOf(deps, run, { record, row: undefined, tenantId }, missing(expected)));
  }
  totals.records += absent.length;
  totals.breaks += breaks.length;
  await deps.breaks.note({ source: 'statement', provider, references: absent, found: breaks });
  deps.onProgress?.(totals.records);
}

const isSame = ({ at }: PostingDocument, movement: Movement | undefined): boolean =>
  at.getTime() === movement?.at.getTime();

const missing = (expected: bigint): Finding => ({
  kind: 'missing_there',
  amountMinor: expected < 0n ? -expected : expected,
  difference: `${expected} with us, nothing at the provider`,
});

function breakOf(
  deps: MatchingDeps,
  { provider }: StatementRun,
  of: { record: string; row: RowDocument | undefined; tenantId: string | null },
  { kind, amountMinor, difference }: Finding,
): FoundBreak {
  const { record, row, tenantId } = of;
  const isOurs = kind !== 'missing_here';
  return {
    kind,
    source: 'statement',
    provider,
    capability: isOurs ? deps.capabilityOf(record) : null,
    reference: record,
    tenantId,
    amountMinor,
    // A reference that is none of ours is how an operator finds the payment at the provider.
    difference: isOurs ? difference : `${difference}: ${row?.reference ?? 'no reference'}`,
  };
}

function verdictsOf(run: StatementRun, totals: Totals): Verdicts {
  const { opening_minor, closing_minor, own_minor, fees_minor, gap_lines: gaps } = run;
  const { clearingMinor: clearing_minor, inFlightMinor: in_flight_minor } = totals;
  const explained = clearing_minor + own_minor - fees_minor + in_flight_minor;
  const hasBoth = opening_minor !== null && closing_minor !== null;
  const difference_minor = hasBoth ? closing_minor - opening_minor - explained : null;
  const isComplete = run.has_balances && run.rows > 0 ? gaps.length === 0 : null;
  return {
    complete: { ok: isComplete, gaps: gaps.length },
    balance: {
      ok: difference_minor === null ? null : difference_minor === 0n,
      opening_minor,
      closing_minor,
      clearing_minor,
      own_minor,
      fees_minor,
      in_flight_minor,
      difference_minor,
    },
    agreement: { ok: totals.breaks === 0, records: totals.records, breaks: totals.breaks },
  };
}
