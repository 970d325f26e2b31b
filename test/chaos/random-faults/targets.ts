import type { ManagedProcess } from '../../support/processes.js';

/** A process that can be killed and frozen. A start may fail while a dependency of the process is down. */
export type Target = Pick<ManagedProcess, 'kill' | 'start' | 'freeze' | 'thaw' | 'isRunning'> & {
  name: string;
};

/** A process of the service as a target. */
export const processTarget = (name: string, managed: ManagedProcess): Target => ({
  ...managed,
  name,
});

type Life = { pid: number; ended: Promise<unknown>; hasEnded(): boolean };

/** MongoDB or Temporal as a target: a restart yields a new process. */
export function engineTarget(name: string, engine: Life & { restart(): Promise<Life> }): Target {
  let life: Life = engine;
  const signal = (which: NodeJS.Signals) => void (life.hasEnded() || process.kill(life.pid, which));
  return {
    name,
    async kill() {
      signal('SIGKILL');
      await life.ended;
    },
    async start() {
      life = await engine.restart();
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    isRunning: () => !life.hasEnded(),
  };
}
