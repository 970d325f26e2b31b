/**
 * Runs the benches one after the other: all, or those whose names are given (`npm run bench -- transfer idle`). Keeps the
 * newest report of each in docs/performance/results.json, prints one table of all goals with verdicts, writes it into
 * docs/performance.md, and draws the picture of the transfer bench. `--short` shows that they run, and writes nothing.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../src/shared/package-root.js';
import { importPackage, installPackages } from './peers/packages.js';
import { drawTransfers } from './picture.js';
import {
  GOAL_HEAD,
  goalRow,
  isShort,
  markdownTable,
  REPORT_FILE,
  type Goal,
  type Point,
  type Report,
} from './report.js';

/** The file of each bench by its name: `npm run bench:<name>` runs it alone. */
const BENCHES: Record<string, string> = {
  transfer: 'post-to-completed',
  idle: 'idle',
  http: 'http',
  authorizations: 'authorizations',
  wallet: 'hot-wallet',
  processes: 'wallet-processes',
  webhooks: 'webhooks',
  dispatch: 'dispatch',
  open: 'open-transfers',
  bulk: 'bulk',
  lists: 'lists',
  ledger: 'ledger',
  statements: 'statements',
  kills: 'kills',
};

const DOCS = join(packageRoot, 'docs', 'performance.md');
const RESULTS = join(packageRoot, 'docs', 'performance', 'results.json');
const PICTURE = join(packageRoot, 'docs', 'performance', 'transfers.svg');
/** The lines of docs/performance.md between which the table of goals stands. */
const TABLE = { begin: '<!-- goals: npm run bench -->', end: '<!-- /goals -->' };

/** The report of one bench, and the machine it ran on. */
type Result = { machine: string; goals: Goal[]; points: Point[] };

/** Throws if the bench fails: a table with a part missing would look complete. */
function run(name: string, file: string, folder: string): Result {
  process.stderr.write(`\n== ${name} ==\n`);
  const reportFile = join(folder, name);
  writeFileSync(reportFile, '');
  const script = fileURLToPath(new URL(`./${file}.js`, import.meta.url));
  const { status } = spawnSync(process.execPath, [script, ...process.argv.slice(2)], {
    env: { ...process.env, [REPORT_FILE]: reportFile },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`the bench ${name} ended with ${status}`);
  const parts = readFileSync(reportFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Report);
  return {
    machine: parts.find((part) => part.kind === 'machine')?.line ?? '',
    goals: parts.flatMap((part) => (part.kind === 'goals' ? part.goals : [])),
    points: parts.flatMap((part) => (part.kind === 'points' ? part.points : [])),
  };
}

/** All goals of all benches, in the order of `BENCHES`, with the day of the run. */
function tableOf(results: Record<string, Result>): string {
  const rows = Object.keys(BENCHES).flatMap((name) => {
    const { goals, machine } = results[name] ?? { goals: [], machine: '' };
    return goals
      .filter(({ goal }) => goal !== null)
      .map((goal) => [`\`bench:${name}\``, ...goalRow(goal), machine.slice(0, 10)]);
  });
  return markdownTable(['command', ...GOAL_HEAD, 'day'], rows);
}

function writeTable(table: string): void {
  const text = readFileSync(DOCS, 'utf8');
  const [before, rest = ''] = text.split(TABLE.begin);
  const [, after] = rest.split(TABLE.end);
  if (after === undefined) throw new Error(`${DOCS} has no place for the table: ${TABLE.begin}`);
  writeFileSync(DOCS, `${before}${TABLE.begin}\n\n${table}\n\n${TABLE.end}${after}`);
}

const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const unknown = asked.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  throw new Error(
    `no such bench: ${unknown.join(', ')}. There are ${Object.keys(BENCHES).join(', ')}`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'bursar-bench-report-'));
const results: Record<string, Result> = isShort
  ? {}
  : (JSON.parse(readFileSync(RESULTS, 'utf8')) as Record<string, Result>);
try {
  for (const [name, file] of Object.entries(BENCHES)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    results[name] = run(name, file, folder);
    // After each bench, so that an interrupted run keeps what it has measured.
    if (!isShort) writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const table = tableOf(results);
console.log(table);
if (!isShort) {
  writeTable(table);
  const { points = [] } = results['transfer'] ?? {};
  const packages = installPackages();
  writeFileSync(PICTURE, await drawTransfers(points, (name) => importPackage(packages, name)));
}
