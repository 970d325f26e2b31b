import { Gauge, type Registry } from 'prom-client';
import { createReading } from '../../platform/metrics/reading.js';
import type { Log } from '../../shared/log.js';
import type { Check } from './check.js';

/** The checks ask MongoDB, Temporal and every provider, so they are made less often than metrics are read. */
const EXAMINE_EVERY_MS = 60_000;

/**
 * Registers the rows of `bursar doctor`: 1 for one that passes, 0 for one that fails. A row that was not made, because what it
 * depends on does not answer, has no value.
 */
export function measureDoctor(
  registry: Registry,
  {
    examine,
    log,
    readEveryMs = EXAMINE_EVERY_MS,
  }: { examine: () => Promise<Check[]>; log: Log; readEveryMs?: number },
): void {
  const checks = createReading({ read: examine, log, readEveryMs });
  // The constructor registers the gauge.
  void new Gauge({
    name: 'bursar_doctor_row',
    help: 'The rows of bursar doctor: 1 passes, 0 fails.',
    labelNames: ['row'],
    registers: [registry],
    async collect() {
      const rows = (await checks()).value ?? [];
      this.reset();
      for (const { check, ok } of rows) this.set({ row: check }, ok ? 1 : 0);
    },
  });
}
