import type { Home } from './data-dir.js';
import { listProcesses, stopStranger, type ProcessEntry } from './processes.js';

/** Marks our Node processes on their command line, so that a later start knows whose they are. */
export function homeMark(home: Pick<Home, 'path'>): string {
  return `--home=${home.path}`;
}

const GRACE_MS = 15_000;

/**
 * Stops what a killed supervisor of this home has left running, users of an engine before the engine.
 * A process is ours if its command line names this home; nothing else is touched. Call it only while
 * holding the home. Returns what was stopped; throws if something would not stop.
 */
export async function stopOrphans(
  home: Pick<Home, 'path' | 'mongodData' | 'temporalFile'>,
): Promise<string[]> {
  const marks: [name: string, mark: string][] = [
    ['service', homeMark(home)],
    ['temporal', `--db-filename ${home.temporalFile}`],
    ['mongod', `--dbpath ${home.mongodData}`],
  ];
  const stopped: string[] = [];
  for (const [name, mark] of marks) {
    const found = listProcesses().filter((entry) => hasMark(entry, mark));
    await Promise.all(
      found.map(async (entry) => {
        const label = `${name} (process ${entry.pid})`;
        if (!(await stopStranger(entry, GRACE_MS))) throw new Error(`Could not stop ${label}.`);
        stopped.push(label);
      }),
    );
  }
  return stopped;
}

/** The mark as whole words of the command line: /a/.bursar is not /a/.bursar2. */
function hasMark({ pid, args }: ProcessEntry, mark: string): boolean {
  return pid !== process.pid && ` ${args.slice(1).join(' ')} `.includes(` ${mark} `);
}
