/**
 * Like `test.each`, for tests that mostly wait: the runs of all rows begin together, before the first of these tests, and
 * each test awaits its own. The rows must share no record, balance or fault; no other test of the file runs meanwhile.
 */
export function eachAtOnce<Row extends unknown[] | [unknown]>(rows: readonly Row[]) {
  return (title: string, run: (...row: Row) => Promise<void>, timeoutMs?: number): void =>
    describe('at once', () => {
      let running: Promise<void>[] = [];
      beforeAll(() => {
        running = rows.map((row) => run(...row));
        // Each failure is reported by the test of its row.
        for (const each of running) each.catch(() => {});
      });
      test.each(rows.map((row, i) => [...row, i]))(
        title,
        (...row) => running[row.at(-1) as number],
        timeoutMs,
      );
    });
}

/** The same for tests of different kinds. */
export function allAtOnce(
  define: (test: (title: string, run: () => Promise<void>) => void) => void,
): void {
  const rows: [string, () => Promise<void>][] = [];
  define((title, run) => void rows.push([title, run]));
  eachAtOnce(rows)('%s', (_title, run) => run());
}
