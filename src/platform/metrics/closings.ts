import { Gauge, type Registry } from 'prom-client';

/** The last complete run of the ledger's closings in this process; null before the first. */
export type LastClosings = () => { at: Date; refused: number } | null;

/** Registers gauges of the ledger's closings. A process that has made none has no value. */
export function measureClosings(registry: Registry, last: LastClosings): void {
  const registers = [registry];
  void new Gauge({
    name: 'bursar_ledger_closing_last_run_timestamp_seconds',
    help: 'Time of the last run that closed all days of the ledger that were due.',
    registers,
    collect() {
      const run = last();
      if (run) this.set(run.at.getTime() / 1000);
      else this.remove();
    },
  });
  void new Gauge({
    name: 'bursar_ledger_days_refused',
    help: 'Days that the last run did not close, because some of their postings do not balance.',
    registers,
    collect() {
      this.set(last()?.refused ?? 0);
    },
  });
}
