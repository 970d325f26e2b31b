import Table from 'cli-table3';

/** Columns by space alone: easy to read, to copy and to cut. */
const PLAIN = {
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  chars: Object.fromEntries(
    'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid middle'
      .split(' ')
      .map((name) => [name, '']),
  ),
};

type Value = string | number | boolean | null | undefined | object;

/** One thing: JSON for programs, a line per field for people. */
export function print(json: boolean, record: Record<string, Value>): void {
  if (json) return console.log(JSON.stringify(record));
  const table = new Table(PLAIN);
  table.push(...Object.entries(record).map(([name, value]) => ({ [name]: show(value) })));
  console.log(table.toString());
}

/** Many things: a JSON array for programs, a table for people. */
export function printTable(json: boolean, rows: Record<string, Value>[]): void {
  if (json) return console.log(JSON.stringify(rows));
  const [first] = rows;
  if (!first) return console.log('none');
  const table = new Table({ ...PLAIN, head: Object.keys(first) });
  table.push(...rows.map((row) => Object.values(row).map(show)));
  console.log(table.toString());
}

/** The first of many, as a table or JSON; says beside it, for people and in logs, when there may be more. */
export function printLatest(json: boolean, rows: Record<string, Value>[], limit: number): void {
  printTable(json, rows);
  if (rows.length === limit) console.error(`bursar: ${limit} are listed; there may be more`);
}

const show = (value: Value): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '–');
