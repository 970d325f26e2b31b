import { identityOf, isRunning, type ProcessIdentity } from './lock.js';
import { argumentsOf, parentOf } from './processes.js';

/** Without /proc, each check starts a process. */
const EVERY_MS = process.platform === 'linux' ? 500 : 2_000;

/**
 * Calls `onGone` when the npm that started this process has died without a signal, as after kill -9. Otherwise the
 * services would run on unnoticed and block the next start. Does nothing without npm.
 */
export function watchParentProcess(env: NodeJS.ProcessEnv, onGone: () => void): void {
  if (env['npm_lifecycle_event'] === undefined) return;
  const watched = parentProcesses();
  if (watched === null) {
    onGone();
    return;
  }
  const timer = setInterval(() => {
    if (watched.every(isRunning)) return;
    clearInterval(timer);
    onGone();
  }, EVERY_MS);
  timer.unref();
}

/**
 * Returns our parent, and its parent if npm runs scripts in a shell that stays. Null if that shell is already
 * orphaned: npm died during installation or build.
 */
function parentProcesses(): ProcessIdentity[] | null {
  const isShell = /(^|\/)(ba|da|z|k)?sh$/.test(argumentsOf(process.ppid)[0] ?? '');
  const above = isShell ? parentOf(process.ppid) : null;
  // In a container, npm itself may be process 1.
  if (above === 1 && !/npm|node|yarn|bun/.test(argumentsOf(1).join(' '))) return null;
  return [process.ppid, above].flatMap((pid) => {
    const identity = pid === null ? null : identityOf(pid);
    return identity === null ? [] : [identity];
  });
}
