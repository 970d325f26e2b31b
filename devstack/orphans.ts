import type { DataDir } from './data-dir.js';
import { listProcesses, stopStranger, type ProcessEntry } from './processes.js';

/** Marks our Node processes on their command line, so that a later start knows whose they are. */
export function dataDirMark(dataDir: Pick<DataDir, 'path'>): string {
  return `--home=${dataDir.path}`;
}

const GRACE_MS = 15_000;

/**
 * Stops what a killed supervisor of this home has left running, users of an engine before the engine.
 * A process is ours if its command line names this home; nothing else is touched. Call it only while
 * holding the home. Returns what was stopped; throws if something would not stop.
 */
export async function stopOrphans(
  dataDir: Pick<DataDir, 'path' | 'mongodData' | 'temporalFile'>,
): Promise<string[]> {
  const marks: [name: string, mark: string][] = [
    ['service', dataDirMark(dataDir)],
    ['temporal', `--db-filename ${dataDir.temporalFile}`],
    ['mongod', `--dbpath ${dataDir.mongodData}`],
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
