import { hostname } from 'node:os';
import { request } from 'undici';
import type { Log } from '../../shared/log.js';
import { readVersion } from '../../shared/version.js';
import type { Attributes, EndedSpan, Exporter } from './tracer.js';

const EVERY_MS = 1_000;
const MAX_BATCH = 500;
/** Spans beyond this number are dropped: a collector that is away costs traces and nothing else. */
const MAX_WAITING = 5_000;
const SEND_WITHIN_MS = 5_000;

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const ERROR = 2;
/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** Exports spans by OTLP over HTTP, as JSON. A collector that is away delays and fails nothing. */
export function createOtlpExporter({
  url,
  headers,
  service,
  log,
}: {
  url: string;
  headers: Readonly<Record<string, string>>;
  service: string;
  log: Log;
}): Exporter {
  const resource = {
    attributes: attributesOf({
      'service.name': service,
      'service.version': readVersion(),
      'host.name': hostname(),
      'process.pid': process.pid,
    }),
  };
  let waiting: EndedSpan[] = [];
  let dropped = 0;
  let sending: Promise<void> = Promise.resolve();

  async function send(spans: readonly EndedSpan[]): Promise<void> {
    const scopeSpans = [{ scope: { name: 'bursar' }, spans: spans.map(toOtlp) }];
    try {
      const { statusCode, body } = await request(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
        signal: AbortSignal.timeout(SEND_WITHIN_MS),
      });
      await body.dump();
      if (statusCode >= 300) log.warn({ status: statusCode }, 'the trace collector refused spans');
    } catch (error) {
      log.warn({ err: error }, 'spans could not be sent to the trace collector');
    }
  }

  function flush(): Promise<void> {
    if (dropped > 0) log.warn({ dropped }, 'spans were dropped: the trace collector is too slow');
    dropped = 0;
    const batch = waiting.splice(0, MAX_BATCH);
    if (batch.length === 0) return sending;
    sending = sending.then(() => send(batch));
    return sending;
  }

  const timer = setInterval(() => void flush(), EVERY_MS);
  timer.unref();

  return {
    add(span) {
      if (waiting.length >= MAX_WAITING) return void (dropped += 1);
      waiting.push(span);
      if (waiting.length === MAX_BATCH) void flush();
    },
    async close() {
      clearInterval(timer);
      while (waiting.length > 0) await flush();
      await sending;
    },
  };
}

/** A span in the form of OTLP/JSON. */
function toOtlp(span: EndedSpan): object {
  const { traceId, spanId, parentId, name, kind, resource, attributes, error } = span;
  const [, callersTrace, callersSpan] = TRACEPARENT.exec(span.caller ?? '') ?? [];
  return {
    traceId,
    spanId,
    ...(parentId !== null && { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(span.startedAt),
    endTimeUnixNano: nanoseconds(span.endedAt),
    attributes: attributesOf({
      ...(resource !== null && { 'bursar.resource': resource }),
      ...attributes,
    }),
    ...(callersTrace && { links: [{ traceId: callersTrace, spanId: callersSpan }] }),
    ...(error !== undefined && { status: { code: ERROR, message: error } }),
  };
}

const nanoseconds = (ms: number) => String(BigInt(Math.round(ms * 1_000)) * 1_000n);

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [
          {
            key,
            value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
          },
        ],
  );
