import type { Histogram, Registry } from 'prom-client';

/** The exemplar of an observation: the trace that shows it. None without a trace. */
export const exemplarOf = (traceId: string | null): { trace_id: string } | Record<string, never> =>
  traceId === null ? {} : { trace_id: traceId };

/**
 * Adds a histogram that was made without a registry. prom-client refuses exemplars on a registry of the older format, which
 * leaves them out: a scrape in the format OpenMetrics has them (open-metrics.ts).
 */
export const addWithExemplars = <Label extends string>(
  registry: Registry,
  histogram: Histogram<Label>,
): void => registry.registerMetric(histogram);
