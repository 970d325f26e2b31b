import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import type { Log } from '../../shared/log.js';

/** Values of a span. Nothing private: no account number, name, narration or text of a caller. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A step that has ended. Times in milliseconds since 1970. */
export type Span = {
  name: string;
  kind: 'internal' | 'server' | 'client';
  /** The record that it is about: the span belongs to its trace. Null: a trace of its own. */
  resource: string | null;
  /** The step of that record, of which there is one. Other spans have a random id. */
  step?: Step;
  parent: Step | null;
  startedAt: number;
  endedAt?: number;
  attributes: Attributes;
  /** The kind of a failure. */
  error?: string | undefined;
  /** The `traceparent` of a caller, which the span is linked to. */
  caller?: string | undefined;
};

/** Steps that a record has once: the request that created it, and its workflow. */
export type Step = 'request' | 'workflow';

/** A span with its ids, as it is exported. */
export type EndedSpan = Span & {
  traceId: string;
  spanId: string;
  parentId: string | null;
  endedAt: number;
};

/** Where ended spans go. `add` neither waits nor fails. */
export type Exporter = { add(span: EndedSpan): void; close(): Promise<void> };

/** Settings of traces. `sampled`: share of the records that are traced, 0 to 1. */
export type TracingSettings = {
  url: string;
  headers: Readonly<Record<string, string>>;
  sampled: number;
};

/** Records what happens to records. */
export type Tracer = {
  isOn: boolean;
  record(span: Span): void;
  /** Runs the activities of a record: spans that `run` records for it are children of the activity. */
  activity<T>(
    of: { resources: readonly string[]; name: string; attributes: Attributes },
    run: () => Promise<T>,
  ): Promise<T>;
  /** The record whose activity runs. */
  current(): string | null;
  /** The trace of a record, if it is exported: for exemplars of metrics. */
  traceOf(resource: string | null): string | null;
  close(): Promise<void>;
};

/** Records nothing. */
export const noTracer: Tracer = {
  isOn: false,
  record: () => undefined,
  activity: (_, run) => run(),
  current: () => null,
  traceOf: () => null,
  close: async () => undefined,
};

/**
 * The trace of a record. Every process derives the same one from the record's id, so a trace goes on after a crash, in a batch
 * of many records, and days later, and nothing has to be stored or handed on.
 */
export const traceIdOf = (resource: string): string => hash(`trace/${resource}`, 32);
const spanIdOf = (resource: string, step: Step): string => hash(`${step}/${resource}`, 16);
const hash = (text: string, length: number) =>
  createHash('sha256').update(text).digest('hex').slice(0, length);

/** Now in milliseconds, with fractions. */
export const traceTime = (): number => performance.timeOrigin + performance.now();

/** Creates the tracer of a process. The exporter is loaded only if there is an endpoint. */
export async function createTracer(
  settings: TracingSettings | null,
  { service, log }: { service: string; log: Log },
): Promise<Tracer> {
  if (settings === null) return noTracer;
  const { createOtlpExporter } = await import('./otlp.js');
  return tracerTo(createOtlpExporter({ ...settings, service, log }), settings.sampled);
}

/** A tracer that exports a share of the traces: all spans of a record, from every process, or none. */
export function tracerTo(exporter: Exporter, sampled = 1): Tracer {
  const running = new AsyncLocalStorage<{ resource: string; spanId: string }>();
  const isSampled = (traceId: string) => parseInt(traceId.slice(0, 8), 16) < sampled * 2 ** 32;

  function end(span: Span, spanId: string, isActivity = false): void {
    const { resource, parent } = span;
    const traceId = resource === null ? randomBytes(16).toString('hex') : traceIdOf(resource);
    if (!isSampled(traceId)) return;
    const activity = running.getStore();
    const isInside = !isActivity && activity !== undefined && activity.resource === resource;
    const outer = resource === null || parent === null ? null : spanIdOf(resource, parent);
    const parentId = isInside ? activity.spanId : outer;
    exporter.add({ ...span, traceId, spanId, parentId, endedAt: span.endedAt ?? traceTime() });
  }

  return {
    isOn: true,

    record(span) {
      const { resource, step } = span;
      const own = resource !== null && step !== undefined ? spanIdOf(resource, step) : null;
      end(span, own ?? randomBytes(8).toString('hex'), step !== undefined);
    },

    async activity({ resources, name, attributes }, run) {
      const startedAt = traceTime();
      const [only] = resources.length === 1 ? resources : [];
      const ids = resources.map((resource) => ({
        resource,
        spanId: randomBytes(8).toString('hex'),
      }));
      const endAll = (error?: string) => {
        for (const { resource, spanId } of ids) {
          const about = { name, kind: 'internal', resource, parent: 'workflow' } as const;
          end({ ...about, startedAt, attributes, error }, spanId, true);
        }
      };
      try {
        const [first] = ids;
        const result = await (only !== undefined && first ? running.run(first, run) : run());
        endAll();
        return result;
      } catch (error) {
        endAll(error instanceof Error ? error.name : 'error');
        throw error;
      }
    },

    current: () => running.getStore()?.resource ?? null,
    traceOf(resource) {
      const traceId = resource === null ? null : traceIdOf(resource);
      return traceId !== null && isSampled(traceId) ? traceId : null;
    },
    close: () => exporter.close(),
  };
}
