import type { Registry } from 'prom-client';
import type { ProviderHealth } from '../core/providers/health.js';
import type { TransferProvider } from '../core/providers/transfer-provider.js';
import { addGauge } from '../platform/metrics/gauge.js';
import { createReading } from '../platform/metrics/reading.js';
import type { Log } from '../shared/log.js';

type Deps = {
  providers: { all: readonly Pick<TransferProvider, 'name' | 'traits'>[] };
  /** The last health check of each provider. */
  health: { list(): Promise<Pick<ProviderHealth, '_id' | 'float_minor'>[]> };
  log: Log;
  readEveryMs?: number;
};

/**
 * Registers our balances at the providers, as the last good health check read them, and the levels below which an operator wants
 * to know. A provider without a level has no second value. Every worker reports the same.
 */
export function measureFloats(registry: Registry, { providers, health, log, ...rest }: Deps): void {
  const checks = createReading({ read: () => health.list(), log, ...rest });
  addGauge(registry, {
    name: 'bursar_provider_float_kobo',
    help: 'Our balance at a provider, as its last good health check read it.',
    label: 'provider',
    async read() {
      const found = (await checks()).value ?? [];
      return Object.fromEntries(
        found.flatMap(({ _id: name, float_minor: float }) =>
          float == null ? [] : [[name, Number(float)]],
        ),
      );
    },
  });
  addGauge(registry, {
    name: 'bursar_provider_float_alert_kobo',
    help: 'The balance at a provider below which an operator is told.',
    label: 'provider',
    read: () =>
      Object.fromEntries(
        providers.all.flatMap(({ name, traits: { floatAlertMinor = 0n } }) =>
          floatAlertMinor === 0n ? [] : [[name, Number(floatAlertMinor)]],
        ),
      ),
  });
}
