import { Counter, Histogram, type Registry } from 'prom-client';
import type { ObserveCall } from '../core/providers/observed.js';
import { addWithExemplars, exemplarOf } from '../platform/metrics/exemplar.js';
import { noTracer, type Tracer } from '../platform/tracing/tracer.js';
import { recordOfCall } from './spans.js';

const BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30];

/**
 * Registers the counts and times of calls to providers. Labels are names of ours, never a provider's text. The exemplar of a
 * time is the trace of the record that the call is about.
 */
export function measureProviderCalls(registry: Registry, tracer: Tracer = noTracer): ObserveCall {
  const registers = [registry];
  const total = new Counter({
    name: 'bursar_provider_calls_total',
    help: 'Calls to providers by the kind of the answer; without one by the reason: timeout, connection, server_error, unreadable.',
    labelNames: ['capability', 'provider', 'call', 'result'],
    registers,
  });
  const duration = new Histogram<'capability' | 'provider' | 'call' | 'trace_id'>({
    name: 'bursar_provider_call_duration_seconds',
    help: 'Time from a call to a provider to its answer, or to the end of the wait for one.',
    labelNames: ['capability', 'provider', 'call'],
    buckets: BUCKETS_SECONDS,
    enableExemplars: true,
    registers: [],
  });
  addWithExemplars(registry, duration);
  return ({ capability, provider, call, result, seconds, given }) => {
    total.inc({ capability, provider, call, result });
    duration.observe({
      labels: { capability, provider, call },
      value: seconds,
      exemplarLabels: exemplarOf(tracer.isOn ? tracer.traceOf(recordOfCall(given, tracer)) : null),
    });
  };
}
