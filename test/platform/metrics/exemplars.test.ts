import Koa from 'koa';
import { Registry } from 'prom-client';
import request from 'supertest';
import { claimPort } from '../../../devstack/ports.js';
import { measureProviderCalls } from '../../../src/composition/provider-call-metrics.js';
import type { AppState } from '../../../src/platform/http/context.js';
import { measureRequests } from '../../../src/platform/metrics/requests.js';
import { serveMetrics } from '../../../src/platform/metrics/server.js';
import { traceIdOf, tracerTo } from '../../../src/platform/tracing/tracer.js';
import { newId } from '../../../src/shared/ids.js';
import { createLog } from '../../../src/shared/log.js';

const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
const log = createLog({ level: 'silent', name: 'test' });
const tracer = (sampled?: number) =>
  tracerTo({ add: () => undefined, close: async () => undefined }, sampled);

/** A process that has answered a request which created a transfer, and has called a provider about it. */
async function measured(sampled?: number) {
  const registry = new Registry();
  const created = newId('transfer');
  const app = new Koa<AppState>();
  const refused = { event_loop: 0, in_flight: 0, connections: 0 };
  const load = { now: () => ({ working: 0, waiting: 0, refused }) };
  app.use(measureRequests(registry, load, tracer(sampled)));
  app.use((ctx) => {
    ctx.status = ctx.path === '/read' ? 200 : 201;
    if (ctx.path === '/replay') ctx.set('Idempotent-Replayed', 'true');
    ctx.state.resource = created;
    ctx.body = 'done';
  });
  const of = { capability: 'transfers', provider: 'sandbox-bank', call: 'submit' };
  const observe = measureProviderCalls(registry, tracer(sampled));
  const about = { requestId: null, failed: false, result: 'succeeded', seconds: 0.2 };
  observe({ ...of, ...about, given: { reference: created } });
  const { port, release } = await claimPort(29_800);
  const server = await serveMetrics(registry, { host: '127.0.0.1', port, log });
  const scrape = async (accept?: string) => {
    const headers = accept === undefined ? {} : { accept };
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
    const type = answer.headers.get('content-type') ?? '';
    const text = await answer.text();
    const timed = text.split('\n').filter((line) => /^bursar_\w+_bucket/.test(line));
    return { type, text, exemplars: timed.filter((line) => line.includes(' # ')) };
  };
  const close = async () => {
    await server.close();
    release();
  };
  return { created, call: request(app.callback()), scrape, close };
}

test('a scraper that asks for OpenMetrics gets the trace of the record on the times of its request and of the calls about it', async () => {
  const { created, call, scrape, close } = await measured();
  await call.post('/new');
  const { type, text, exemplars } = await scrape(OPEN_METRICS);
  expect(type).toContain('application/openmetrics-text');
  expect(text.endsWith('# EOF\n')).toBe(true);
  const trace = `# {trace_id="${traceIdOf(created)}"} `;
  expect(exemplars.map((line) => line.slice(0, line.indexOf('{')))).toEqual([
    'bursar_http_request_duration_seconds_bucket',
    'bursar_provider_call_duration_seconds_bucket',
  ]);
  for (const line of exemplars) expect(line).toContain(trace);
  // The name of a counter has no suffix, its samples have one.
  expect(text).toContain('# TYPE bursar_provider_calls counter');
  expect(text).toMatch(/^bursar_provider_calls_total\{.*\} 1$/m);
  expect(text).not.toContain('_total_total');
  await close();
});

test('every other scraper gets the same as before, also after a scrape of OpenMetrics', async () => {
  const { call, scrape, close } = await measured();
  await call.post('/new');
  await scrape(OPEN_METRICS);
  for (const accept of [undefined, 'text/plain', '*/*']) {
    const { type, text, exemplars } = await scrape(accept);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(exemplars).toEqual([]);
    expect(text).not.toContain('# EOF');
    expect(text).toContain('# TYPE bursar_provider_calls_total counter');
    expect(text).toMatch(/^bursar_provider_calls_total\{.*\} 1$/m);
  }
  await close();
});

test('a request that creates nothing, and a record whose trace is not exported, have no exemplar', async () => {
  const { call, scrape, close } = await measured(0);
  await call.post('/new');
  expect((await scrape(OPEN_METRICS)).exemplars).toEqual([]);
  await close();
  const traced = await measured();
  for (const path of ['/replay', '/read']) await traced.call.get(path);
  const { exemplars } = await traced.scrape(OPEN_METRICS);
  expect(exemplars.filter((line) => line.startsWith('bursar_http'))).toEqual([]);
  await traced.close();
});
