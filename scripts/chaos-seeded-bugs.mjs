// npm run chaos:seeded-bugs tests the checker: each seeded bug must be reported by the clause that covers it, and a
// run of the same kind without a bug must report nothing.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SEEDED_BUGS } from './seeded-bugs.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '1' },
  },
});
const script = fileURLToPath(new URL('chaos-random.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bursar-seeded-bugs-'));

/**
 * Records that a bug leaves open stay open, so the wait for them is shorter than in other runs; but longer than a healthy
 * build leaves an event or a delivery between two attempts.
 */
const STUCK_SECONDS = '100';

/**
 * Runs random faults; returns the checker's report (null if the run did not get that far) and the result of the run.
 */
function runWith(name) {
  const result = join(folder, `${name ?? 'nothing'}.json`);
  // A short run sends only what the bug affects; most affect transfers.
  const only = ['--only', SEEDED_BUGS[name]?.only ?? 'transfers,wallets'];
  const args = ['--seed', values.seed, '--minutes', values.minutes, ...only];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [script, ...args, ...(name === null ? [] : ['--seeded-bug', name])],
    {
      encoding: 'utf8',
      env: { ...process.env, CHAOS_RESULT: result, CHAOS_STUCK_SECONDS: STUCK_SECONDS },
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const problems = problemsIn(result);
  // A bug makes its run red. Without a bug, or without a report, jest's output has the reason.
  if (problems === null || (name === null && status !== 0)) console.error(stdout, stderr);
  return { problems, isGreen: status === 0 };
}

function problemsIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).problems;
  } catch {
    return null;
  }
}

let missed = 0;
function say(name, isRight, said) {
  if (!isRight) missed += 1;
  console.log(`${isRight ? 'ok  ' : 'FAIL'} ${name}: ${said}`);
}

try {
  const names = positionals.length > 0 ? positionals : [null, ...Object.keys(SEEDED_BUGS)];
  for (const name of names) {
    const { problems, isGreen } = runWith(name);
    if (problems === null) say(name ?? 'no bug', false, 'the random-fault run itself failed');
    else if (name === null) {
      // A run can be red without a violation, for example if nothing was killed. Such a run would find no bug either.
      const end = isGreen ? 'green' : 'and red';
      const said = `${problems.length} violations ${problems.slice(0, 5)}, ${end}`;
      say('no bug', problems.length === 0 && isGreen, said);
    } else {
      const { what, seenBy } = SEEDED_BUGS[name];
      const seen = problems.filter((problem) => seenBy.test(problem));
      const others = `${problems.length} violations in all`;
      const example = seen[0] ?? `not by its clause, but ${problems.slice(0, 3).join('; ')}`;
      say(`${name} (${what})`, seen.length > 0, `${seen.length} × “${example}”, ${others}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = missed === 0 ? 0 : 1;
