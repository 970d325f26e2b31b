import { Gauge, type Registry } from 'prom-client';

type Values = Record<string, number>;

/** A gauge that is read when somebody scrapes: a number for each value of its one label. `read` must not fail. */
export function addGauge(
  registry: Registry,
  gauge: { name: string; help: string; label: string; read: () => Values | Promise<Values> },
): void {
  const { name, help, label, read } = gauge;
  const labelNames = [label];
  const registers = [registry];
  // It registers itself.
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
