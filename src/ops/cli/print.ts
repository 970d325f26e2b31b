type Value = string | number | boolean | null | undefined | object;

/** A record as it is printed. */
export type Printable = Record<string, Value>;

/** Prints one record: JSON for programs, a line per field for people. */
export function print(json: boolean, record: Printable): void {
  if (json) return console.log(JSON.stringify(record));
  console.log(columns(Object.entries(record).map(([name, value]) => [name, show(value)])));
}

/** Prints a record with its timeline. */
export function printWithTimeline(
  json: boolean,
  { record, timeline }: { record: Record<string, Value>; timeline: Record<string, Value>[] },
): void {
  if (json) return print(json, { ...record, timeline });
  print(json, record);
  printTable(json, timeline);
}

/** Prints a list: a JSON array for programs, a table for people. */
export function printTable(json: boolean, rows: Record<string, Value>[]): void {
  if (json) return console.log(JSON.stringify(rows));
  const [first] = rows;
  if (!first) return console.log('none');
  console.log(columns([Object.keys(first), ...rows.map((row) => Object.values(row).map(show))]));
}

/** Prints the first `limit` rows as a table or JSON, and notes on standard error that there may be more. */
export function printLatest(json: boolean, rows: Record<string, Value>[], limit: number): void {
  const priced = rows.map(withCurrency);
  printTable(json, json ? priced : priced.map(withAge));
  if (rows.length === limit) console.error(`bursar: ${limit} are listed; there may be more`);
}

const show = (value: Value): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '–');

const BETWEEN = '  ';

/**
 * Separates columns with spaces alone, which is easy to read, copy and cut. A line break continues its cell on the next
 * line.
 */
function columns(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((text) => text.split('\n')));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [at, lines] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, ...lines.map(widthOf));
    }
  }
  const lineOf = (row: readonly string[][], line: number) =>
    row
      .map((lines, at) => padded(lines[line] ?? '', widths[at] ?? 0))
      .join(BETWEEN)
      .trimEnd();
  return cells
    .flatMap((row) => {
      const height = Math.max(...row.map((lines) => lines.length));
      return Array.from({ length: height }, (_, line) => lineOf(row, line));
    })
    .join('\n');
}

/** The width in characters; `length` would count some of them twice. */
const widthOf = (text: string) => [...text].length;

const padded = (text: string, width: number) => text + ' '.repeat(width - widthOf(text));

/** Adds the currency beside the first amount. NGN is the only currency. */
function withCurrency(row: Record<string, Value>): Record<string, Value> {
  const amount = Object.keys(row).find((name) => name.endsWith('_minor'));
  if (amount === undefined || 'currency' in row) return row;
  const entries = Object.entries(row).flatMap((entry) =>
    entry[0] === amount ? [entry, ['currency', 'NGN'] as const] : [entry],
  );
  return Object.fromEntries(entries);
}

const withAge = (row: Record<string, Value>): Record<string, Value> =>
  typeof row['created_at'] === 'string' ? { ...row, age: ageOf(row['created_at']) } : row;

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** The age in the largest full unit: `45s`, `3m`, `2h`, `12d`. */
function ageOf(at: string): string {
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(at)) / 1_000));
  const [unit, length] = UNITS.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / length)}${unit}`;
}
