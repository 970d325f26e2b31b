// A lock between processes of one machine: a file that names its holder. The lock of a dead holder is free, even
// after kill -9. Plain JavaScript, because it guards the build of everything else.
import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns the start time of a process in its system's format, or null if it is not running (or is a zombie). A pid is
 * reused; a pid with its start time is not.
 */
export function startOf(pid) {
  if (!Number.isSafeInteger(pid) || pid < 1) return null;
  try {
    if (process.platform !== 'linux') {
      const out = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
        encoding: 'utf8',
      });
      const [stat = 'Z', ...started] = out.trim().split(/\s+/);
      return stat.startsWith('Z') ? null : started.join(' ');
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name is in parentheses and may contain anything; the fields after the last parenthesis are fixed.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function readHolder(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

const isAlive = (holder) => holder !== null && startOf(holder.pid) === holder.started;

/** Creates the file with its whole content in one step; returns false if it exists. */
function createWhole(file, content) {
  const draft = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  writeFileSync(draft, content);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Replaces a dead holder's lock with ours; returns false if another process was faster. */
function takeOver(file, dead, content) {
  const claim = `${file}.after-${dead.pid}-${String(dead.started).replace(/\W/g, '')}`;
  if (!createWhole(claim, content)) {
    if (!isAlive(readHolder(claim))) rmSync(claim, { force: true });
    return false;
  }
  // Only the creator of the claim replaces this holder's lock, and only if it is still the current one.
  const present = readHolder(file);
  const still = present?.pid === dead.pid && present?.started === dead.started;
  if (still) {
    const draft = `${file}.${process.pid}.next`;
    writeFileSync(draft, content);
    renameSync(draft, file);
  }
  rmSync(claim, { force: true });
  return still;
}

/**
 * Takes the lock if it is free or its holder is dead. Returns `{release}`, or `{holder}` with the
 * living holder's `{pid, started, …note}`.
 */
export function tryLock(file, note = {}) {
  const content = JSON.stringify({ ...note, pid: process.pid, started: startOf(process.pid) });
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (createWhole(file, content)) return { release: () => rmSync(file, { force: true }) };
    const holder = readHolder(file);
    if (isAlive(holder)) return { holder };
    if (holder !== null && takeOver(file, holder, content)) {
      return { release: () => rmSync(file, { force: true }) };
    }
  }
  return { holder: readHolder(file) ?? { pid: 0 } };
}

/** Runs the work while holding the lock; waits as long as a living process has it. */
export async function withLock(file, onWait, work) {
  let reported = false;
  for (;;) {
    const lock = tryLock(file);
    if (lock.release) {
      try {
        return await work();
      } finally {
        lock.release();
      }
    }
    if (!reported) onWait(lock.holder.pid);
    reported = true;
    await sleep(250);
  }
}
