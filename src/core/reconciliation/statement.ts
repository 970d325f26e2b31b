import { createHash } from 'node:crypto';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { DAY_MS, HOUR_MS } from '../../shared/durations.js';
import { idOf, ownIdOf } from '../../shared/ids.js';
import type { Span } from './judgement.js';

/** One row of a provider's statement of our balance. Amounts are in kobo. */
export type StatementRow = {
  /** Its number in the statement, from 1. */
  line: number;
  /** The provider's reference of the payment; null if the row has none. */
  reference: string | null;
  /** Left out for a reference of a payment; see `LedgerEntry`. */
  of?: 'refund' | 'dispute';
  /** Positive: into our balance. Without the fee. */
  amountMinor: bigint;
  /** The fee that the provider took with this row; null if the statement does not say. */
  feeMinor: bigint | null;
  /** The running balance after the row; null if the statement has none. */
  balanceMinor: bigint | null;
  at: Date;
  /** True for money between us and the provider alone, such as a top-up: no record explains it. */
  own: boolean;
  /** The provider's id of the row, if it comes from the provider's own list. */
  entry?: string;
};

/** A row as it is stored. `_id` is `<statement>/<line>`. */
export type RowDocument = {
  _id: string;
  run: string;
  provider: string;
  /** The record that the row is about, by its reference; of rows of our own, null. */
  record: string | null;
  reference: string | null;
  amount_minor: bigint;
  fee_minor: bigint | null;
  at: Date;
  /** The same row of another statement is within this time. */
  precision_ms: number;
  /** The provider's id of the row; rows of files have none. */
  entry?: string;
  imported_at: Date;
};

/** A period is pulled this long after its end, because a list that still grows shifts between two pages. */
export const PULLED_AFTER_MS = HOUR_MS;

/** The id of a row. The order of ids is the order of lines, so that a portion is at one place of the index. */
export const rowId = (run: string, line: number): string =>
  `${run}/${String(line).padStart(9, '0')}`;

/** The order of a statement's rows. */
export type RowOrder = 'oldest_first' | 'newest_first';

/** The proofs of a run. `ok` is null if the statement does not have what the proof needs. */
export type Verdicts = {
  /** The running balances chain without a gap. */
  complete: { ok: boolean | null; gaps: number };
  /**
   * The change of the provider's balance equals the change of our clearing account, the rows of our own and the fees, and the
   * movements that only one side has in the period: `in_flight_minor`.
   */
  balance: {
    ok: boolean | null;
    opening_minor: bigint | null;
    closing_minor: bigint | null;
    clearing_minor: bigint;
    own_minor: bigint;
    fees_minor: bigint;
    in_flight_minor: bigint;
    /** The rest, which none of these explains: the money of open breaks, and of gaps. */
    difference_minor: bigint | null;
  };
  /** Every row and every movement of ours has its counterpart. */
  agreement: { ok: boolean; records: number; breaks: number };
};

/** The import of a statement, and the run that compares it. Its id follows from the statement, so a repeat finds it. */
export type StatementRun = {
  _id: string;
  provider: string;
  name: string;
  order: RowOrder;
  started_at: Date;
  updated_at: Date;
  /** Null while rows are missing, or are being compared. */
  ended_at: Date | null;
  /** The place in the provider's list from which rows are still read; null for a file. */
  cursor: string | null;
  /** The number of rows so far. The next one has the line after it. */
  rows: number;
  /** True once the last row is there. Only then is a movement without a row missing at the provider. */
  has_last_row: boolean;
  /** The period: as it was given, or of the rows. */
  from: Date | null;
  to: Date | null;
  /** The times of the earliest and the latest row so far. Absent in the statements of earlier releases. */
  first_at?: Date;
  last_at?: Date;
  /** Movements this near to the ends of the period may be in the next statement, or in the one before. */
  slack_ms: number;
  opening_minor: bigint | null;
  closing_minor: bigint | null;
  /** The balance that the chain expects in the next row; null before the first one, and without balances. */
  expects_minor: bigint | null;
  has_balances: boolean;
  /** The lines before which rows are missing; the first thousand. */
  gap_lines: number[];
  own_minor: bigint;
  fees_minor: bigint;
  verdicts: Verdicts | null;
};

/** The fields of a new run. `digest`: the hash of a file, or the window of a provider's list. */
export type NewStatement = {
  provider: string;
  name: string;
  digest: string;
  order: RowOrder;
  from: Date | null;
  to: Date | null;
  slackMs: number;
};

/** The id of a statement: equal contents of one provider are one statement. */
export const statementId = ({ provider, digest }: Pick<NewStatement, 'provider' | 'digest'>) =>
  idOf('reconciliationRun', createHash('sha256').update(`${provider}/${digest}`).digest());

/** A new run without rows. */
export const newStatementRun = (given: NewStatement, now: Date): StatementRun => ({
  _id: statementId(given),
  provider: given.provider,
  name: given.name,
  order: given.order,
  started_at: now,
  updated_at: now,
  ended_at: null,
  cursor: null,
  rows: 0,
  has_last_row: false,
  from: given.from,
  to: given.to,
  slack_ms: given.slackMs,
  opening_minor: null,
  closing_minor: null,
  expects_minor: null,
  has_balances: true,
  gap_lines: [],
  own_minor: 0n,
  fees_minor: 0n,
  verdicts: null,
});

/** Statements write times in seconds or in minutes. */
const MINUTE_MS = 60_000;

/** The time within which a row of another statement is the same row. Rows without times are as far apart as their slack. */
export const precisionOf = ({ slack_ms: slackMs }: Pick<StatementRun, 'slack_ms'>): number =>
  slackMs >= DAY_MS ? slackMs : MINUTE_MS;

/** The whole minutes that a statement is about, as far as its rows so far show them. */
export function spanOf(run: StatementRun): Span {
  const { order, has_last_row: isWhole, first_at: first, last_at: last } = run;
  const from = run.from ?? (isWhole || order === 'oldest_first' ? first : null);
  const to = run.to ?? (isWhole || order === 'newest_first' ? last : null);
  const minute = (at: Date) => Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS;
  return {
    from: from ? new Date(minute(from)) : null,
    to: to ? new Date(minute(to) + MINUTE_MS) : null,
  };
}

/** The effect of a row on the balance. */
export const effectOf = (row: Pick<StatementRow, 'amountMinor' | 'feeMinor'>): bigint =>
  row.amountMinor - (row.feeMinor ?? 0n);

/** A place at which the running balance does not continue. */
export type Gap = { line: number; missingMinor: bigint };

const MAX_GAP_LINES = 1_000;

/** The run with its next rows, and the gaps among them. */
export function withRows(
  run: StatementRun,
  rows: readonly StatementRow[],
): { run: StatementRun; gaps: Gap[] } {
  const gaps: Gap[] = [];
  const next = { ...run };
  for (const row of rows) {
    const { balances, missingMinor } = chain(next, row);
    if (missingMinor !== 0n) gaps.push({ line: row.line, missingMinor });
    Object.assign(next, balances);
    next.rows = row.line;
    next.first_at = next.first_at && next.first_at < row.at ? next.first_at : row.at;
    next.last_at = next.last_at && next.last_at > row.at ? next.last_at : row.at;
    next.own_minor += row.own ? row.amountMinor : 0n;
    next.fees_minor += row.feeMinor ?? 0n;
  }
  const lines = [...run.gap_lines, ...gaps.map(({ line }) => line)].slice(0, MAX_GAP_LINES);
  return { run: { ...next, gap_lines: lines }, gaps };
}

type Balances = Pick<
  StatementRun,
  'has_balances' | 'opening_minor' | 'closing_minor' | 'expects_minor'
>;

/** Follows the chain of balances by one row. In a statement with the newest row first, the next row is the one before. */
function chain(run: StatementRun, row: StatementRow): { balances: Balances; missingMinor: bigint } {
  const { opening_minor, closing_minor, expects_minor: expects } = run;
  const after = row.balanceMinor;
  if (!run.has_balances || after === null) {
    const none = { opening_minor: null, closing_minor: null, expects_minor: null };
    return { balances: { has_balances: false, ...none }, missingMinor: 0n };
  }
  const before = after - effectOf(row);
  const isOldestFirst = run.order === 'oldest_first';
  const [met, expectsNext] = isOldestFirst ? [before, after] : [after, before];
  return {
    balances: {
      has_balances: true,
      opening_minor: isOldestFirst ? (opening_minor ?? before) : before,
      closing_minor: isOldestFirst ? after : (closing_minor ?? after),
      expects_minor: expectsNext,
    },
    missingMinor: expects === null ? 0n : met - expects,
  };
}

/** A reference of ours in the form of providers that allow no underscore. */
const HYPHENATED = /^([a-z]{2,3})-([0-7][0-9a-hjkmnp-tv-z]{25}(?:-[0-9]{1,4})?)$/;

/** The id of our record that a reference names; null if it names none. */
export const recordIn = (reference: string): string | null =>
  ownIdOf(reference.replace(HYPHENATED, '$1_$2'));

const long = { bsonType: 'long' };
const longOrNull = { bsonType: ['long', 'null'] };
const text = { bsonType: 'string' };
const date = { bsonType: 'date' };

/** The index of the rows of a statement, by record. */
export const ROWS_OF_RUN = { run: 1, record: 1 } as const;
/** The index of the rows of a provider about a record, in all statements. */
export const ROWS_OF_RECORD = { provider: 1, record: 1 } as const;

/** Rows of statements. MongoDB removes them 400 days after their import. */
export const rowsCollection: CollectionSpec = {
  name: 'statement_rows',
  validator: {
    bsonType: 'object',
    required: ['run', 'provider', 'amount_minor', 'at', 'imported_at'],
    properties: {
      run: text,
      provider: text,
      record: { bsonType: ['string', 'null'] },
      reference: { bsonType: ['string', 'null'] },
      amount_minor: long,
      fee_minor: longOrNull,
      at: date,
      imported_at: date,
    },
  },
  indexes: [
    { key: ROWS_OF_RUN },
    { key: ROWS_OF_RECORD },
    { key: { run: 1, entry: 1 }, partialFilterExpression: { entry: { $type: 'string' } } },
    { key: { imported_at: 1 }, expireAfterSeconds: (400 * DAY_MS) / 1000 },
  ],
  shardBy: null,
};

/** Imports of statements, with the verdicts of their comparison. */
export const runsCollection: CollectionSpec = {
  name: 'statement_runs',
  validator: {
    bsonType: 'object',
    required: ['provider', 'name', 'order', 'started_at', 'updated_at', 'rows', 'slack_ms'],
    properties: {
      provider: text,
      name: text,
      order: { enum: ['oldest_first', 'newest_first'] },
      started_at: date,
      updated_at: date,
      ended_at: { bsonType: ['date', 'null'] },
      rows: { bsonType: 'int', minimum: 0 },
      opening_minor: longOrNull,
      closing_minor: longOrNull,
      verdicts: { bsonType: ['object', 'null'] },
    },
  },
  indexes: [{ key: { provider: 1, from: 1 } }, { key: { started_at: 1 } }],
  shardBy: null,
};
