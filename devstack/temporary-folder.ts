import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf, isRunning, type ProcessIdentity } from './lock.js';
import { stopStranger } from './processes.js';

const PREFIX = 'bursar-engines-';
/** Whose the folder is (first), and what runs from it. */
const RECORD = 'processes.json';

export type TemporaryFolder = {
  path: string;
  /** Notes a process that runs from here, for the case that its starter is killed. */
  note: (pid: number) => void;
  /** Kills what was noted, at once: nothing of this is wanted again. Removes the folder. */
  remove: () => Promise<void>;
};

/** A folder for engines that are gone with this process, or at the latest with the next clean-up. */
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

/** Kills and removes what processes left that ended too suddenly to do it themselves. */
export async function removeAbandonedFolders(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const path = join(tmpdir(), name);
    const [owner, ...others] = readRecord(join(path, RECORD));
    // Without a record it is being made just now.
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
