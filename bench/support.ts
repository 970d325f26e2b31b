import { cpus } from 'node:os';
import { quiet } from './cpu.js';

/** Whether the bench was asked for a quick run: enough for CI to see that it works, too little for a figure. */
export const isShort = process.argv.includes('--short');

export type Loop = {
  /** Finished within the time, each second. */
  perSecond: number;
  /** Finished at all, with those that were under way when the time was over. */
  completed: number;
  p50Ms: number;
  p99Ms: number;
};

/** Closed-loop clients: each does one thing after the other until the time is over; all of them are waited for. */
export async function closedLoop({
  clients,
  forMs,
  act,
}: {
  clients: number;
  forMs: number;
  act: (client: number) => Promise<unknown>;
}): Promise<Loop> {
  const latenciesMs: number[] = [];
  let inTime = 0;
  const endAt = performance.now() + forMs;
  async function client(index: number): Promise<void> {
    for (let begin = performance.now(); begin < endAt; begin = performance.now()) {
      await act(index);
      const end = performance.now();
      latenciesMs.push(end - begin);
      if (end < endAt) inTime += 1;
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return {
    perSecond: inTime / (forMs / 1000),
    completed: latenciesMs.length,
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
  };
}

/** Nearest rank; NaN of nothing. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN;
}

/** NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** For a machine that others use too: waits for as long as it takes until they let it be. */
const isPatient = process.argv.includes('--patient');

/** What ran while others used more than this part of the machine is run again, so many times. */
const DISTURBED_ABOVE = 0.1;
const MAX_TRIES = isPatient ? 20 : 3;
const MAX_WAIT_MS = isPatient ? 20 * 60_000 : 30_000;
/** For the whole bench, which ends also on a machine that is never quiet. */
let waitLeftMs = isPatient ? 2 * 60 * 60_000 : 3 * 60_000;

/**
 * Runs every subject once in each round, beginning with another one each time, so that a machine that slows down or
 * a collection that grows touches all of them alike. What others disturbed is run again when the machine is quiet.
 * Answers the results of each subject, in the order of rounds.
 */
export async function interleave<Name extends string, Result extends { othersShare: number }>(
  subjects: Record<Name, () => Promise<Result>>,
  rounds: number,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(subjects) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<
    Name,
    Result[]
  >;
  for (let round = 0; round < rounds; round += 1) {
    const shift = round % names.length;
    for (const name of [...names.slice(shift), ...names.slice(0, shift)]) {
      process.stderr.write(`round ${round + 1} of ${rounds}: ${name}\n`);
      results[name].push(await undisturbed(subjects[name]));
    }
  }
  return results;
}

/** Lets every subject run once, for its code to be compiled and its connections to be open. */
export async function warmUp(subjects: Record<string, () => Promise<unknown>>): Promise<void> {
  for (const run of Object.values(subjects)) await run();
}

/** The last of several tries counts, whatever happened: `printMachine` tells how quiet it was. */
async function undisturbed<Result extends { othersShare: number }>(
  run: () => Promise<Result>,
): Promise<Result> {
  if (isShort) return run();
  for (let attempt = 1; ; attempt += 1) {
    const since = performance.now();
    await quiet({ withinMs: Math.min(waitLeftMs, MAX_WAIT_MS) });
    waitLeftMs -= performance.now() - since;
    const result = await run();
    if (result.othersShare <= DISTURBED_ABOVE || attempt === MAX_TRIES || waitLeftMs <= 0) {
      return result;
    }
    process.stderr.write(`  others used ${(result.othersShare * 100).toFixed(0)} %: again\n`);
  }
}

export type Ratio = { median: number; least: number; most: number };

/** The ratio of two subjects in each round, for only what ran side by side is compared. */
export function ratioOf(above: readonly number[], below: readonly number[]): Ratio {
  const ratios = above.map((value, round) => value / (below[round] ?? NaN));
  return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}

export type Goal = {
  what: string;
  ratio: Ratio;
  /** At least this, or at most; null where it is only shown. */
  goal: { least: number } | { most: number } | null;
};

/** The table that is the bench's answer. */
export function printGoals(goals: readonly Goal[]): void {
  printTable(
    ['goal', 'wanted', 'measured', 'rounds', ''],
    goals.map(({ what, ratio, goal }) => {
      const spread = `${ratio.least.toFixed(2)} to ${ratio.most.toFixed(2)}`;
      const measured = `${ratio.median.toFixed(2)}×`;
      if (goal === null) return [what, '', measured, spread, ''];
      const met = 'least' in goal ? ratio.median >= goal.least : ratio.median <= goal.most;
      const wanted = 'least' in goal ? `≥ ${goal.least}×` : `≤ ${goal.most}×`;
      return [what, wanted, measured, spread, isShort ? 'not judged' : met ? 'met' : 'MISSED'];
    }),
  );
}

/** A Markdown table: what a run prints can be put into docs/performance.md as it is. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  console.log(['', line(head), rule, ...rows.map(line), ''].join('\n'));
}

/** What the figures were measured on, and how much of it others used meanwhile. */
export function printMachine(
  versions: Record<string, string>,
  results: Record<string, readonly { othersShare: number }[]>,
): void {
  const shares = Object.values(results).flatMap((runs) => runs.map((run) => run.othersShare * 100));
  const [usual, most] = [median(shares), Math.max(...shares)].map((share) => share.toFixed(0));
  const parts = [
    new Date().toISOString().slice(0, 16),
    `${cpus().length} × ${cpus()[0]?.model ?? 'CPU'}`,
    `Node ${process.versions.node}`,
    ...Object.entries(versions).map(([name, version]) => `${name} ${version}`),
    shares.length > 0 ? `others used ${usual} % of the machine, ${most} % at most` : '',
    isShort ? 'SHORT RUN: shows that it works, measures nothing' : '',
  ];
  console.log(parts.filter((part) => part !== '').join(', '));
}

export const whole = (value: number) => Math.round(value).toLocaleString('en');
export const oneDigit = (value: number) => value.toFixed(1);
