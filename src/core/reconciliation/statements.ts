import type { Collection, Db } from 'mongodb';
import { isDuplicate } from '../../platform/database/duplicate.js';
import { HOUR_MS } from '../../shared/durations.js';
import { ApiError } from '../../shared/errors.js';
import type {
  LedgerAnswer,
  LedgerEntry,
  LedgerWindow,
  TransferProvider,
} from '../providers/transfer-provider.js';
import type { FoundBreak } from './break.js';
import type { Breaks } from './breaks.js';
import { nameUnreferenced, spansOf } from './unreferenced.js';
import {
  newStatementRun,
  precisionOf,
  recordIn,
  rowId,
  rowsCollection,
  runsCollection,
  withRows,
  type Gap,
  type NewStatement,
  type RowDocument,
  type StatementRow,
  type StatementRun,
  type Verdicts,
} from './statement.js';

/** The record of a reference that is none of ours, such as that of a deposit, or of a provider's refund or dispute. */
type RecordOf = (provider: string, reference: string, of?: StatementRow['of']) => string;

type Parts = { db: Db; breaks: Pick<Breaks, 'note'>; recordOf: RecordOf; clock?: () => Date };

/** The stored statements. */
export type Statements = ReturnType<typeof createStatements>;

/** Creates the store of statements and their rows. */
export function createStatements(parts: Parts) {
  const runs = parts.db.collection<StatementRun>(runsCollection.name);
  const rows = parts.db.collection<RowDocument>(rowsCollection.name);
  const clock = parts.clock ?? (() => new Date());
  const intake = createIntake({ ...parts, runs, rows, clock });
  return {
    ...intake,
    pull: (provider: LedgerProvider, window: PulledWindow) =>
      pull({ ...intake, rows }, provider, window),
    pullPage: (provider: LedgerProvider, window: PulledWindow) =>
      pullPage({ ...intake, rows }, provider, window),
    rows,

    /** Keeps the verdicts of a comparison, and the period that it was for. */
    async end(
      { _id, from, to }: Pick<StatementRun, '_id' | 'from' | 'to'>,
      verdicts: Verdicts,
    ): Promise<void> {
      const now = clock();
      const set = { verdicts, from, to, ended_at: now, updated_at: now };
      await runs.updateOne({ _id }, { $set: set });
    },

    find: (id: string): Promise<StatementRun | null> => runs.findOne({ _id: id }),

    spans: (ids: Iterable<string>) => spansOf(runs, ids),

    /** The latest statements. */
    latest: (limit: number): Promise<StatementRun[]> =>
      runs.find().sort({ started_at: -1 }).limit(limit).toArray(),

    /** The statements of a provider within a period. */
    within: (provider: string, from: Date, to: Date): Promise<StatementRun[]> =>
      runs.find({ provider, from: { $gte: from }, to: { $lte: to } }).toArray(),
  };
}

type Intake = ReturnType<typeof createIntake> & { rows: Collection<RowDocument> };

/**
 * Takes the rows of statements in portions: each is stored whole or is repeated, and a portion that is there already changes
 * nothing.
 */
function createIntake({
  runs,
  rows,
  breaks,
  recordOf,
  clock,
}: Required<Parts> & {
  runs: Collection<StatementRun>;
  rows: Collection<RowDocument>;
}) {
  const documentOf = (
    run: StatementRun,
    row: StatementRow,
    unreferenced: ReadonlyMap<number, string>,
  ): RowDocument => ({
    _id: rowId(run._id, row.line),
    run: run._id,
    provider: run.provider,
    record: row.own ? null : (unreferenced.get(row.line) ?? recordOfRow(recordOf, run, row)),
    reference: row.own ? null : row.reference,
    amount_minor: row.amountMinor,
    fee_minor: row.feeMinor,
    at: row.at,
    precision_ms: precisionOf(run),
    ...(row.entry !== undefined && { entry: row.entry }),
    imported_at: clock(),
  });

  return {
    /** Begins a statement, or finds the one with the same contents. */
    async begin(given: NewStatement): Promise<StatementRun> {
      const run = newStatementRun(given, clock());
      try {
        await runs.insertOne(run);
        return run;
      } catch (error) {
        const found = isDuplicate(error) && (await runs.findOne({ _id: run._id }));
        if (found) return found;
        throw error;
      }
    },

    /**
     * Adds the rows that are not there yet; `isLast`: none follows. Throws `invalid_state` if rows before them are missing.
     */
    async add(
      id: string,
      given: readonly StatementRow[],
      { isLast, cursor = null }: { isLast: boolean; cursor?: string | null },
    ): Promise<StatementRun> {
      const run = await runs.findOne({ _id: id });
      if (!run) throw new ApiError('not_found');
      const fresh = given.filter(({ line }) => line > run.rows);
      const [first] = fresh;
      if (!first && !isLast && cursor === run.cursor) return run;
      if (first && first.line !== run.rows + 1) {
        throw new ApiError('invalid_state', { message: `row ${run.rows + 1} is missing` });
      }
      const { run: after, gaps } = withRows(run, fresh);
      const next = { ...after, cursor, has_last_row: isLast, updated_at: clock() };
      const unreferenced = await nameUnreferenced({ rows, runs }, { run, next }, fresh);
      await insertMissing(
        rows,
        fresh.map((row) => documentOf(run, row, unreferenced)),
      );
      const found = gaps.map((gap) => gapOf(run, gap));
      await breaks.note({ source: 'statement', provider: run.provider, references: [], found });
      const { _id, ...set } = next;
      const { matchedCount } = await runs.updateOne({ _id, rows: run.rows }, { $set: set });
      if (matchedCount === 0) {
        throw new ApiError('invalid_state', { message: 'another process imports this statement' });
      }
      return next;
    },
  };
}

/** Rows of a portion whose run was not updated are there already. */
async function insertMissing(
  rows: Collection<RowDocument>,
  documents: RowDocument[],
): Promise<void> {
  if (documents.length === 0) return;
  try {
    await rows.insertMany(documents, { ordered: false });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
}

/** The record that a row is about. */
const recordOfRow = (
  recordOf: RecordOf,
  { provider }: StatementRun,
  { reference, of }: StatementRow,
): string | null =>
  reference === null ? null : (recordIn(reference) ?? recordOf(provider, reference, of));

const gapOf = (run: StatementRun, { line, missingMinor }: Gap): FoundBreak => ({
  kind: 'gap',
  source: 'statement',
  provider: run.provider,
  capability: null,
  reference: rowId(run._id, line),
  tenantId: null,
  amountMinor: missingMinor < 0n ? -missingMinor : missingMinor,
  difference: `${run.name}: the balance does not continue at row ${line}`,
});

type LedgerProvider = Pick<TransferProvider, 'name' | 'ledger'>;
type PulledWindow = Pick<LedgerWindow, 'from' | 'to' | 'takeTurn'> & {
  /** Ends the calls of the page: nobody waits for it any more. */
  signal?: AbortSignal;
  /** Gets the answer to the call for the page. */
  answered?: (answer: LedgerAnswer) => void;
};

/** Adds the rows of the provider's own ledger in a window. Continues where an earlier call was interrupted. */
async function pull(
  intake: Intake,
  of: LedgerProvider,
  window: PulledWindow,
): Promise<StatementRun> {
  for (;;) {
    const page = await pullPage(intake, of, window);
    if (!page) {
      const message = 'The provider did not answer: repeat the command, which continues.';
      throw new ApiError('invalid_state', { message });
    }
    if (page.run.has_last_row) return page.run;
  }
}

/** The statement after a page of the provider's list, and the rows that the page has added. */
type PulledPage = { run: StatementRun; added: number };

/**
 * Adds the next page of the provider's own ledger in a window; null if the provider did not answer. The statement has the place of
 * the page, so that an interrupted page is read again.
 */
async function pullPage(
  intake: Intake,
  of: LedgerProvider,
  { from, to, takeTurn, signal = new AbortController().signal, answered }: PulledWindow,
): Promise<PulledPage | null> {
  const { name: provider } = of;
  const ledger = of.ledger?.bind(of);
  if (!ledger) throw new ApiError('invalid_state', { message: `${provider} has no ledger` });
  const window = `${from.toISOString()} to ${to.toISOString()}`;
  const digest = `ledger/${window}`;
  const given = { provider, name: `ledger, ${window}`, digest, order: 'newest_first' } as const;
  const run = await intake.begin({ ...given, slackMs: HOUR_MS, from, to });
  const { cursor } = run;
  if (run.has_last_row) return { run, added: 0 };
  const answer = await ledger({ from, to, cursor, takeTurn }, signal);
  answered?.(answer);
  if (answer.kind !== 'page') return null;
  const fresh = await freshOf(intake.rows, run, answer.items);
  const entries = fresh.map(({ id, ...row }, i) => ({ ...row, entry: id, line: run.rows + 1 + i }));
  const place = { cursor: answer.next, isLast: answer.next === null };
  return { run: await intake.add(run._id, entries, place), added: entries.length };
}

/** The entries of the provider's list that the run does not have: a list may shift between two of its pages. */
async function freshOf(
  rows: Collection<RowDocument>,
  { _id: run, rows: count }: StatementRun,
  entries: readonly LedgerEntry[],
): Promise<LedgerEntry[]> {
  const given = { $in: entries.map(({ id }) => id), $type: 'string' as const };
  // Rows after the run's last one are of a portion that was interrupted, and is added again.
  const filter = { run, entry: given, _id: { $lte: rowId(run, count) } };
  const found = await rows.find(filter, { projection: { entry: 1 } }).toArray();
  const known = new Set(found.map(({ entry }) => entry));
  return entries.filter(({ id }) => !known.has(id));
}
