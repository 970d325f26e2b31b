import type { Collection } from 'mongodb';
import { DAY_MS } from '../../shared/durations.js';
import { groupBy } from '../../shared/group.js';
import { isSameRow, type Moved, type Span } from './judgement.js';
import {
  precisionOf,
  rowId,
  ROWS_OF_RECORD,
  spanOf,
  type RowDocument,
  type StatementRow,
  type StatementRun,
} from './statement.js';

/** No statement's rows are less exact than this. */
const LEAST_PRECISION_MS = 2 * DAY_MS;

/** A row without a reference, as another statement may have it too. */
type Row = Pick<Moved, 'amountMinor' | 'at' | 'precisionMs' | 'span'>;

type Collections = { rows: Collection<RowDocument>; runs: Collection<StatementRun> };

/** The rows of one name, and the statements that they are of. */
type Named = { rows: Row[]; runs: Set<string> };

/**
 * Names the rows of a portion that have no reference: by amount and time, and with the name that the same row of an
 * overlapping statement has. So such a row is one break, in however many statements it is. Two rows of one statement never
 * have one name. Returns names by lines.
 */
export async function nameUnreferenced(
  collections: Collections,
  { run, next }: { run: StatementRun; next: StatementRun },
  portion: readonly StatementRow[],
): Promise<Map<number, string>> {
  const names = new Map<number, string>();
  const unnamed = portion.filter(({ reference, own }) => reference === null && !own);
  if (unnamed.length === 0) return names;
  const known = await namedNear(collections, run, unnamed);
  const span = spanOf(next);
  for (const { line, amountMinor, at } of unnamed) {
    const row = { amountMinor, at, precisionMs: precisionOf(run), span };
    const name = sameIn(known, run._id, row) ?? newName(known, row);
    const { rows: same, runs } = known.get(name) ?? { rows: [], runs: new Set() };
    known.set(name, { rows: [...same, row], runs: runs.add(run._id) });
    names.set(line, name);
  }
  return names;
}

const prefixOf = (amountMinor: bigint) => `unreferenced/${amountMinor}/`;

/** The name of a row that no other statement has: the next free one of its amount and time. */
function newName(known: ReadonlyMap<string, Named>, { amountMinor, at }: Row): string {
  const name = (count: number) => `${prefixOf(amountMinor)}${at.toISOString()}/${count}`;
  let count = 1;
  while (known.has(name(count))) count += 1;
  return name(count);
}

/** The name that this row has in another statement; undefined if none has it. */
function sameIn(known: ReadonlyMap<string, Named>, run: string, row: Row): string | undefined {
  for (const [name, { rows, runs }] of known) {
    if (!runs.has(run) && rows.every((each) => isSameRow(each, row))) return name;
  }
  return undefined;
}

/** The names of these amounts around the time of the portion, the earliest first. */
async function namedNear(
  collections: Collections,
  { _id: run, rows: count, provider }: StatementRun,
  unnamed: readonly StatementRow[],
): Promise<Map<string, Named>> {
  const times = unnamed.map(({ at }) => at.getTime());
  const day = (ms: number) => new Date(ms).toISOString();
  const [from, to] = [
    day(Math.min(...times) - LEAST_PRECISION_MS),
    day(Math.max(...times) + LEAST_PRECISION_MS),
  ];
  const amounts = new Set(unnamed.map(({ amountMinor }) => amountMinor));
  const found = await collections.rows
    .find({
      provider,
      $or: [...amounts].map((amount) => ({
        record: { $gte: `${prefixOf(amount)}${from}`, $lt: `${prefixOf(amount)}${to}` },
      })),
      // Rows after the run's last one are of a portion that was interrupted, and is named again.
      $nor: [{ run, _id: { $gt: rowId(run, count) } }],
    })
    .hint(ROWS_OF_RECORD)
    .sort({ record: 1 })
    .toArray();
  const spans = await spansOf(collections.runs, new Set(found.map((row) => row.run)));
  const byName = groupBy(found, ({ record }) => record ?? '');
  return new Map(
    [...byName].map(([name, rows]) => [
      name,
      { rows: rows.map((row) => rowOf(row, spans)), runs: new Set(rows.map((row) => row.run)) },
    ]),
  );
}

const rowOf = (
  { run, amount_minor: amountMinor, at, precision_ms: precisionMs }: RowDocument,
  spans: ReadonlyMap<string, Span>,
): Row => ({ amountMinor, at, precisionMs, span: spans.get(run) });

/** The times that these statements are about. */
export async function spansOf(
  runs: Collection<StatementRun>,
  ids: Iterable<string>,
): Promise<Map<string, Span>> {
  const found = await runs.find({ _id: { $in: [...ids] } }).toArray();
  return new Map(found.map((run) => [run._id, spanOf(run)]));
}
