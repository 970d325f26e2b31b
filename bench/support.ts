import { setTimeout as sleep } from 'node:timers/promises';
import { cpus } from 'node:os';
import { waitUntilIdle } from './cpu.js';
import { GOAL_HEAD, goalRow, isShort, markdownTable, report, type Goal } from './report.js';

export { isShort };

/** The result of a closed loop. */
export type Loop = {
  /** Calls that finished within the time, per second. */
  perSecond: number;
  /** All finished calls, including those in flight when the time was over. */
  completed: number;
  p50Ms: number;
  p99Ms: number;
};

/** Runs closed-loop clients: each makes one call after the other until the time is over. Waits for all of them. */
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
  return loopOf(latenciesMs, inTime, forMs);
}

/**
 * Makes each call on schedule, even if earlier ones are unanswered, and times it from then, so that a late start counts.
 * Waits for all of them.
 */
export async function openLoop({
  rate,
  forMs,
  act,
}: {
  /** Calls a second. */
  rate: number;
  forMs: number;
  act: () => Promise<unknown>;
}): Promise<Loop> {
  const latenciesMs: number[] = [];
  const underWay: Promise<void>[] = [];
  let inTime = 0;
  const began = performance.now();
  async function call(dueAt: number): Promise<void> {
    await act();
    const end = performance.now();
    latenciesMs.push(end - dueAt);
    if (end < began + forMs) inTime += 1;
  }
  for (let sent = 0; (sent * 1_000) / rate < forMs; sent += 1) {
    const dueAt = began + (sent * 1_000) / rate;
    await sleep(Math.max(0, dueAt - performance.now()));
    underWay.push(call(dueAt));
  }
  await Promise.all(underWay);
  return loopOf(latenciesMs, inTime, forMs);
}

const loopOf = (latenciesMs: number[], inTime: number, forMs: number): Loop => ({
  perSecond: inTime / (forMs / 1000),
  completed: latenciesMs.length,
  p50Ms: percentile(latenciesMs, 50),
  p99Ms: percentile(latenciesMs, 99),
});

/** Nearest rank; NaN for an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN;
}

/** NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** `--patient`, for shared machines: waits as long as it takes until other processes are quiet. */
const isPatient = process.argv.includes('--patient');

/** A run during which others used more than this share of the machine is repeated, up to so many times. */
const DISTURBED_ABOVE = 0.1;
const MAX_TRIES = isPatient ? 20 : 3;
const MAX_WAIT_MS = isPatient ? 20 * 60_000 : 30_000;
/** Limit for the whole bench, so that it ends on a machine that is never quiet. */
let waitLeftMs = isPatient ? 2 * 60 * 60_000 : 3 * 60_000;

/**
 * Runs every subject once in each round, and starts each round with another subject, so that a slowing machine or a
 * growing collection affects all alike. Repeats disturbed runs when the machine is quiet. Returns the results of each
 * subject by round.
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

/** Runs every subject once, to compile its code and open its connections. */
export async function warmUp(subjects: Record<string, () => Promise<unknown>>): Promise<void> {
  for (const run of Object.values(subjects)) await run();
}

/** The last of several attempts counts even if it was disturbed: `printMachine` prints how quiet the machine was. */
async function undisturbed<Result extends { othersShare: number }>(
  run: () => Promise<Result>,
): Promise<Result> {
  if (isShort) return run();
  for (let attempt = 1; ; attempt += 1) {
    const since = performance.now();
    await waitUntilIdle({ withinMs: Math.min(waitLeftMs, MAX_WAIT_MS) });
    waitLeftMs -= performance.now() - since;
    const result = await run();
    if (result.othersShare <= DISTURBED_ABOVE || attempt === MAX_TRIES || waitLeftMs <= 0) {
      return result;
    }
    process.stderr.write(`  others used ${(result.othersShare * 100).toFixed(0)} %: again\n`);
  }
}

/** A figure over all rounds. */
export type Spread = { median: number; least: number; most: number };

/** Compares two subjects within each round, because only those runs had the same conditions. */
export const ratioOf = (above: readonly number[], below: readonly number[]): Spread =>
  spreadOf(above.map((value, round) => value / (below[round] ?? NaN)));

/** The median of these values, and how far they are apart. */
export const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
});

/** Prints the table of figures and goals, and reports them to `npm run bench`. */
export function printGoals(goals: readonly Goal[]): void {
  printTable(GOAL_HEAD, goals.map(goalRow));
  report({ kind: 'goals', goals });
}

/** Prints a Markdown table that can be pasted into docs/performance.md. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  console.log(['', markdownTable(head, rows), ''].join('\n'));
}

/** Prints the machine, and how much of it other processes used meanwhile. */
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
  const line = parts.filter((part) => part !== '').join(', ');
  console.log(line);
  report({ kind: 'machine', line });
}

/** Formats a number without decimals. */
export const whole = (value: number) => Math.round(value).toLocaleString('en');
/** Formats a number with one decimal. */
export const oneDigit = (value: number) => value.toFixed(1);
