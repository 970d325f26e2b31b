import { Counter, Gauge, type Registry } from 'prom-client';
import { FORWARDING_RESULTS, type createForwarding } from '../core/commit/forwarding.js';
import type { CommitProcesses } from '../core/commit/processes.js';

/**
 * Registers the commits of contended wallets: those that this process hands to another one, and those that others hand to it.
 * The returned function counts the latter. No label names a wallet or a process.
 */
export function measureForwarding(
  registry: Registry,
  {
    forwarding,
    processes,
  }: {
    forwarding: Pick<ReturnType<typeof createForwarding>, 'onForwarded' | 'contendedWallets'>;
    processes: Pick<CommitProcesses, 'known' | 'reportedAt'>;
  },
): (mutations: number) => void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge(
    'bursar_commit_contended_wallets',
    'Wallets that one process commits for all others, as this process knows.',
    forwarding.contendedWallets,
  );
  gauge(
    'bursar_commit_processes',
    'Processes of this release that commit for others, as this process read them last; 0 before a wallet was contended.',
    processes.known,
  );
  gauge(
    'bursar_commit_process_last_report_timestamp_seconds',
    'The last time that this process told the others that it commits for them; 0 if it does not.',
    () => (processes.reportedAt()?.getTime() ?? 0) / 1_000,
  );
  const forwarded = new Counter({
    name: 'bursar_commit_forwarded_mutations_total',
    help: 'Mutations handed to the process that commits a contended wallet. answered: by that process; else committed here: unsent, that process has not got them; unknown, it may have committed them too; failed, its commit had an error.',
    labelNames: ['result'],
    registers,
  });
  for (const result of FORWARDING_RESULTS) forwarded.inc({ result }, 0);
  forwarding.onForwarded((result) => forwarded.inc({ result }));
  const served = new Counter({
    name: 'bursar_commit_served_mutations_total',
    help: 'Mutations of contended wallets that this process has committed for others.',
    registers,
  });
  return (mutations) => served.inc(mutations);
}
