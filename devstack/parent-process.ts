import { identityOf, isRunning, type ProcessIdentity } from './lock.js';
import { argumentsOf, parentOf } from './processes.js';

/** Without /proc every look costs a process. */
const EVERY_MS = process.platform === 'linux' ? 500 : 2_000;

/**
 * Tells when the npm that started us has gone without telling us, as after kill -9: otherwise we would
 * run on unseen, and its next start would find us in the way. Does nothing for a start without npm.
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
 * Our parent, and the one above it where npm runs its scripts in a shell that stays. Null if that
 * shell was already orphaned: npm died while the packages or the build were being made.
 */
function parentProcesses(): ProcessIdentity[] | null {
  const isShell = /(^|\/)(ba|da|z|k)?sh$/.test(argumentsOf(process.ppid)[0] ?? '');
  const above = isShell ? parentOf(process.ppid) : null;
  // In a container npm itself may be process 1.
  if (above === 1 && !/npm|node|yarn|bun/.test(argumentsOf(1).join(' '))) return null;
  return [process.ppid, above].flatMap((pid) => {
    const identity = pid === null ? null : identityOf(pid);
    return identity === null ? [] : [identity];
  });
}
