import { Gauge, type Registry } from 'prom-client';
import type { Log } from '../../shared/log.js';
import { createReading } from './reading.js';

/** Reads the last run of any worker that closed all days of the ledger that were due; null before the first. */
export type ReadLastClosing = () => Promise<{ endedAt: Date; refused: number } | null>;

/** Registers gauges of the ledger's closings. Every worker reports the same. */
export function measureClosings(
  registry: Registry,
  { read, log, readEveryMs }: { read: ReadLastClosing; log: Log; readEveryMs?: number },
): void {
  const registers = [registry];
  const lastRun = createReading({ read, log, ...(readEveryMs !== undefined && { readEveryMs }) });
  void new Gauge({
    name: 'bursar_ledger_closing_last_run_timestamp_seconds',
    help: 'Time of the last run that closed all days of the ledger that were due.',
    registers,
    async collect() {
      const { value: run } = await lastRun();
      if (run) this.set(run.endedAt.getTime() / 1000);
      else this.remove();
    },
  });
  void new Gauge({
    name: 'bursar_ledger_days_refused',
    help: 'Days that the last run did not close, because some of their postings do not balance.',
    registers,
    async collect() {
      this.set((await lastRun()).value?.refused ?? 0);
    },
  });
}
