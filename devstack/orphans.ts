import type { DataDir } from './data-dir.js';
import { listProcesses, stopStranger, type ProcessEntry } from './processes.js';

/** The argument that marks our Node processes, so that a later start recognises those of its folder. */
export function dataDirMark(dataDir: Pick<DataDir, 'path'>): string {
  return `--home=${dataDir.path}`;
}

const GRACE_MS = 15_000;

/**
 * Stops the processes that a killed supervisor of this folder left behind, users of an engine before the engine. Only
 * processes whose command line names this folder are touched. Call it only while holding the folder's lock. Returns
 * the stopped processes; throws if one does not stop.
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

/** Compares the mark as whole arguments: /a/.bursar is not /a/.bursar2. */
function hasMark({ pid, args }: ProcessEntry, mark: string): boolean {
  return pid !== process.pid && ` ${args.slice(1).join(' ')} `.includes(` ${mark} `);
}
