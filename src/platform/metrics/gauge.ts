import { Gauge, type Registry } from 'prom-client';

type Values = Record<string, number>;

/**
 * Registers a gauge with one label that is computed on each scrape: `read` returns a number for each value of the label
 * and must not fail.
 */
export function addGauge(
  registry: Registry,
  gauge: { name: string; help: string; label: string; read: () => Values | Promise<Values> },
): void {
  const { name, help, label, read } = gauge;
  const labelNames = [label];
  const registers = [registry];
  // The constructor registers the gauge.
  void new Gauge({
    name,
    help,
    labelNames,
    registers,
    async collect() {
      for (const [value, number] of Object.entries(await read()))
        this.set({ [label]: value }, number);
    },
  });
}
