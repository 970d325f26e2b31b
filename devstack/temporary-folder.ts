import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf, isRunning, type ProcessIdentity } from './lock.js';
import { stopStranger } from './processes.js';

const PREFIX = 'bursar-engines-';
/** Lists the owner of the folder (first) and the processes that run in it. */
const RECORD = 'processes.json';

/** A folder with processes that ends with its owner. */
export type TemporaryFolder = {
  path: string;
  /** Records a process that runs here, so that it can be stopped if its starter is killed. */
  note: (pid: number) => void;
  /** Kills the recorded processes without a grace period, because their data is discarded, and removes the folder. */
  remove: () => Promise<void>;
};

/** Creates a folder for engines. It is removed with this process, or at the latest by the next clean-up. */
export function createTemporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), PREFIX));
  const record: ProcessIdentity[] = [];
  const note = (pid: number) => {
    const identity = identityOf(pid);
    if (identity === null) return;
    record.push(identity);
    writeFileSync(join(path, RECORD), JSON.stringify(record));
  };
  note(process.pid);
  return {
    path,
    note,
    async remove() {
      const [, ...others] = record;
      await Promise.all(others.map((identity) => stopStranger(identity, 0)));
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Kills and removes what processes left behind that could not clean up themselves. */
export async function removeAbandonedFolders(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const path = join(tmpdir(), name);
    const [owner, ...others] = readRecord(join(path, RECORD));
    // A folder without a record is being created at this moment.
    if (owner === undefined || isRunning(owner)) continue;
    await Promise.all(others.map((identity) => stopStranger(identity, 0)));
    rmSync(path, { recursive: true, force: true });
  }
}

function readRecord(file: string): ProcessIdentity[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity[];
  } catch {
    return [];
  }
}
