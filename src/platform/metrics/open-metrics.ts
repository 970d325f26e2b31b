import { Registry, type Metric, type OpenMetricsContentType } from 'prom-client';

/** A metric as a registry reads it: `getForPromString`, where a metric has it, keeps the exemplars. */
type Readable = {
  name: string;
  help: string;
  type: string;
  get(): Promise<{ name: string; type: string }>;
  getForPromString?(): Promise<{ name: string; type: string }>;
};

/**
 * The metrics of a registry in the format OpenMetrics, which has exemplars. It is a registry of its own: the change of a
 * registry's format renames its counters for good, and would be seen by a scrape in the other format.
 */
export function openMetricsOf(registry: Registry): Registry<OpenMetricsContentType> {
  const open = new Registry<OpenMetricsContentType>();
  open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of registry.getMetricsAsArray() as unknown as Readable[]) {
    const read = async () => {
      const values = await (metric.getForPromString?.() ?? metric.get());
      return { ...values, name: withoutTotal(values) };
    };
    const { name, help, type } = metric;
    open.registerMetric({ name, help, type, get: read } as unknown as Metric);
  }
  return open;
}

/** OpenMetrics names a counter without the suffix that its samples have. */
const withoutTotal = ({ name, type }: { name: string; type: string }) =>
  type === 'counter' ? name.replace(/_total$/, '') : name;
