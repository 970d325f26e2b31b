import { appendFileSync } from 'node:fs';
import type { Spread } from './support.js';

/** True for a quick run with `--short`: CI sees that the bench works, but the figures mean nothing. */
export const isShort = process.argv.includes('--short');

/** Names the file to which a bench appends its report, one JSON object in each line. Set by `npm run bench`. */
export const REPORT_FILE = 'BENCH_REPORT';

/** A figure with its goal. */
export type Goal = {
  what: string;
  /** A ratio, unless `unit` is given. A `count` has no unit. */
  measured: Spread;
  unit?: 'ms' | 'MB' | '%' | '/s' | 'count';
  /** A lower or an upper bound; null if the figure is only shown. */
  goal: { least: number } | { most: number } | null;
};

/** The throughput and latency of one service at one load. */
export type Point = { service: string; inFlight: number; perSecond: number; p50Ms: number };

export type Report =
  | { kind: 'machine'; line: string }
  | { kind: 'goals'; goals: readonly Goal[] }
  | { kind: 'points'; points: readonly Point[] };

/** Does nothing in a bench that runs alone. */
export function report(part: Report): void {
  const file = process.env[REPORT_FILE];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(part)}\n`);
}

export const GOAL_HEAD = ['goal', 'wanted', 'measured', 'rounds', ''];

/** The cells of a goal under `GOAL_HEAD`. */
export function goalRow({ what, measured, unit, goal }: Goal): string[] {
  const bare = (value: number) =>
    unit === undefined ? value.toFixed(2) : Math.round(value).toLocaleString('en');
  const suffix = unit === undefined ? '×' : unit === 'count' ? '' : ` ${unit}`;
  const spread = `${bare(measured.least)} to ${bare(measured.most)}`;
  const figure = `${bare(measured.median)}${suffix}`;
  if (goal === null) return [what, '', figure, spread, ''];
  const [sign, bound] = 'least' in goal ? ['≥', goal.least] : ['≤', goal.most];
  const verdict = isShort ? 'not judged' : isMet(measured, goal) ? 'met' : 'MISSED';
  return [what, `${sign} ${bound.toLocaleString('en')}${suffix}`, figure, spread, verdict];
}

const isMet = ({ median }: Spread, goal: NonNullable<Goal['goal']>) =>
  'least' in goal ? median >= goal.least : median <= goal.most;

/** Formats a Markdown table with aligned columns. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
