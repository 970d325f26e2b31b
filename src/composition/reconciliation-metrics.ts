import { Gauge, type Registry } from 'prom-client';
import type { LastRun, ReconciliationRuns } from '../core/reconciliation/last-runs.js';
import { createReading } from '../platform/metrics/reading.js';
import type { Log } from '../shared/log.js';
import type { ExpectedRun } from './reconciliation.js';

const LABELS = ['kind', 'provider'] as const;
const labelsOf = ({ kind, provider }: Pick<LastRun, 'kind' | 'provider'>) => ({
  kind,
  provider: provider ?? '',
});

/** Registers the last runs of the scheduled comparisons, beside the time between two starts. Every worker reports the same. */
export function measureReconciliations(
  registry: Registry,
  {
    runs,
    expected,
    log,
    readEveryMs,
  }: {
    runs: Pick<ReconciliationRuns, 'list'>;
    expected: readonly ExpectedRun[];
    log: Log;
    readEveryMs?: number;
  },
): void {
  const registers = [registry];
  const lastRuns = createReading({
    read: () => runs.list(expected),
    log,
    ...(readEveryMs !== undefined && { readEveryMs }),
  });
  void new Gauge({
    name: 'bursar_reconciliation_last_run_timestamp_seconds',
    help: 'Time of the last run of a scheduled comparison; before the first one, the time since which it is expected.',
    labelNames: LABELS,
    registers,
    async collect() {
      this.reset();
      for (const run of (await lastRuns()).value ?? []) {
        this.set(labelsOf(run), run.at.getTime() / 1000);
      }
    },
  });
  void new Gauge({
    name: 'bursar_reconciliation_interval_seconds',
    help: 'Time between two starts of a scheduled comparison.',
    labelNames: LABELS,
    registers,
    collect() {
      for (const run of expected) this.set(labelsOf(run), run.everyMs / 1000);
    },
  });
}
