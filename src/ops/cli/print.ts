import Table from 'cli-table3';

/** Separates columns with spaces alone, which is easy to read, copy and cut. */
const PLAIN = {
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  chars: Object.fromEntries(
    'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid middle'
      .split(' ')
      .map((name) => [name, '']),
  ),
};

type Value = string | number | boolean | null | undefined | object;

/** Prints one record: JSON for programs, a line per field for people. */
export function print(json: boolean, record: Record<string, Value>): void {
  if (json) return console.log(JSON.stringify(record));
  const table = new Table(PLAIN);
  table.push(...Object.entries(record).map(([name, value]) => ({ [name]: show(value) })));
  console.log(table.toString());
}

/** Prints a list: a JSON array for programs, a table for people. */
export function printTable(json: boolean, rows: Record<string, Value>[]): void {
  if (json) return console.log(JSON.stringify(rows));
  const [first] = rows;
  if (!first) return console.log('none');
  const table = new Table({ ...PLAIN, head: Object.keys(first) });
  table.push(...rows.map((row) => Object.values(row).map(show)));
  console.log(table.toString());
}

/** Prints the first `limit` rows as a table or JSON, and notes on standard error that there may be more. */
export function printLatest(json: boolean, rows: Record<string, Value>[], limit: number): void {
  printTable(json, rows);
  if (rows.length === limit) console.error(`bursar: ${limit} are listed; there may be more`);
}

const show = (value: Value): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '–');
