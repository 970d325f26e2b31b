import { Counter, Histogram, type Registry } from 'prom-client';
import type { AppState, Middleware } from '../http/context.js';
import type { Load } from '../http/load.js';
import { routeOf } from '../http/request-log.js';
import { createdResource } from '../http/request-span.js';
import { ERRORS } from '../../shared/errors.js';
import { noTracer, type Tracer } from '../tracing/tracer.js';
import { addWithExemplars, exemplarOf } from './exemplar.js';
import { addGauge } from './gauge.js';

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Counts and times all answers except those to health checks. Labels are route patterns and codes, never text from a
 * caller. The exemplar of a time is the trace of the record that the request created.
 */
export function measureRequests(
  registry: Registry,
  load: Pick<Load, 'now'>,
  tracer: Pick<Tracer, 'traceOf'> = noTracer,
): Middleware {
  measureLoad(registry, load);
  const registers = [registry];
  const total = new Counter({
    name: 'bursar_http_requests_total',
    help: 'HTTP responses by route pattern, method and status code. Route "none": no route matched.',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  const duration = new Histogram<'route' | 'method' | 'status_class' | 'trace_id'>({
    name: 'bursar_http_request_duration_seconds',
    help: 'Time to the response, including the wait that the caller requested (Prefer: wait).',
    labelNames: ['route', 'method', 'status_class'],
    buckets: BUCKETS_SECONDS,
    enableExemplars: true,
    registers: [],
  });
  addWithExemplars(registry, duration);
  const countError = countErrors(registry, {
    name: 'bursar_http_errors_total',
    help: 'HTTP responses with an error, by error code.',
  });
  return async (ctx, next) => {
    if (ctx.path.startsWith('/health/')) return next();
    const startedAt = performance.now();
    try {
      await next();
    } finally {
      const route = routeOf(ctx) ?? 'none';
      const method = METHODS.has(ctx.method) ? ctx.method : 'other';
      const statusClass = `${Math.floor(ctx.status / 100)}xx`;
      total.inc({ route, method, status: ctx.status });
      countError(ctx);
      duration.observe({
        labels: { route, method, status_class: statusClass },
        value: (performance.now() - startedAt) / 1000,
        exemplarLabels: exemplarOf(tracer.traceOf(createdResource(ctx))),
      });
    }
  };
}

/** Counts the answers of the operator API with an error. */
export function measureOperatorErrors(registry: Registry): Middleware {
  const countError = countErrors(registry, {
    name: 'bursar_operator_errors_total',
    help: 'Responses of the operator API with an error, by error code.',
  });
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      countError(ctx);
    }
  };
}

/** Registers a counter of errors by code, and returns the function that counts the answer of a request. */
function countErrors(registry: Registry, named: { name: string; help: string }) {
  const errors = new Counter({ ...named, labelNames: ['code'], registers: [registry] });
  // Prometheus sees no increase in the first sample of a series: an alert would miss the first error of a code.
  for (const code of Object.keys(ERRORS)) errors.inc({ code }, 0);
  return ({ state: { errorCode: code } }: { state: Pick<AppState, 'errorCode'> }): void => {
    if (code) errors.inc({ code });
  };
}

function measureLoad(registry: Registry, load: Pick<Load, 'now'>): void {
  addGauge(registry, {
    name: 'bursar_http_requests_in_flight',
    help: 'Requests without a response: being processed, waiting for a slow client, or waiting by Prefer: wait.',
    label: 'state',
    read() {
      const { working, waiting } = load.now();
      return { working, waiting };
    },
  });
  const registers = [registry];
  void new Counter({
    name: 'bursar_http_refused_total',
    help: 'Requests refused with 503 (event_loop, in_flight) and connections closed because of overload.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(load.now().refused)) this.inc({ reason }, count);
    },
  });
}
