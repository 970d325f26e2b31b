import { Gauge, type Registry } from 'prom-client';
import { readVersion } from '../../shared/version.js';

/** Registers the release of this process, as a gauge of 1 with labels. */
export function measureBuild(registry: Registry): void {
  const gauge = new Gauge({
    name: 'bursar_build_info',
    help: 'Always 1; the labels name the release and the version of Node.js.',
    labelNames: ['version', 'node'],
    registers: [registry],
  });
  gauge.set({ version: readVersion(), node: process.version }, 1);
}
