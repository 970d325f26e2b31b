import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { newId } from '../../../src/shared/ids.js';
import { createLog } from '../../../src/shared/log.js';
import {
  createTracer,
  noTracer,
  tracerTo,
  type EndedSpan,
  type Span,
} from '../../../src/platform/tracing/tracer.js';

const log = createLog({ level: 'silent', name: 'test' });
const spanOf = (resource: string | null, name = 'commit'): Span => ({
  name,
  kind: 'internal',
  resource,
  parent: 'workflow',
  startedAt: Date.now(),
  attributes: {},
});

function collect(sampled?: number) {
  const spans: EndedSpan[] = [];
  const exporter = {
    add: (span: EndedSpan) => void spans.push(span),
    close: async () => undefined,
  };
  return { spans, tracer: tracerTo(exporter, sampled) };
}

test('without an endpoint nothing is recorded, and the exporter is not even loaded', async () => {
  expect(await createTracer(null, { service: 'bursar-test', log })).toBe(noTracer);
  const files = ['src', 'worker'].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => `${folder}/${String(name)}`),
  );
  const importers = files
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => /from '[^']*\/otlp\.js'/.test(readFileSync(file, 'utf8')));
  expect(importers).toEqual([]);
});

test('two processes record the steps of one record in one trace', async () => {
  const [one, other] = [collect(), collect()];
  const id = newId('transfer');
  one.tracer.record({ ...spanOf(id, 'POST'), step: 'request', parent: null });
  other.tracer.record({ ...spanOf(id, 'workflow'), step: 'workflow', parent: 'request' });
  await other.tracer.activity({ resources: [id], name: 'activity', attributes: {} }, async () =>
    other.tracer.record(spanOf(id, 'call')),
  );
  const [request] = one.spans;
  const [workflow, call, activity] = other.spans;
  expect(new Set([...one.spans, ...other.spans].map(({ traceId }) => traceId)).size).toBe(1);
  expect(request?.parentId).toBeNull();
  expect(workflow?.parentId).toBe(request?.spanId);
  expect(activity?.parentId).toBe(workflow?.spanId);
  expect(call?.parentId).toBe(activity?.spanId);
});

test('an activity of many records has a span in the trace of each, also if it fails', async () => {
  const { spans, tracer } = collect();
  const resources = [newId('transfer'), newId('transfer')];
  const fails = tracer.activity({ resources, name: 'activity', attributes: {} }, async () => {
    throw new TypeError('the text is not exported');
  });
  await expect(fails).rejects.toThrow(TypeError);
  expect(spans.map(({ resource, error }) => [resource, error])).toEqual(
    resources.map((id) => [id, 'TypeError']),
  );
});

test('a share of the records is traced, and of each of these all spans', () => {
  const { spans, tracer } = collect(0.3);
  const ids = Array.from({ length: 1_000 }, () => newId('transfer'));
  for (const id of [...ids, ...ids]) tracer.record(spanOf(id));
  const counts = new Map<string | null, number>();
  for (const { resource } of spans) counts.set(resource, (counts.get(resource) ?? 0) + 1);
  expect(counts.size).toBeGreaterThan(200);
  expect(counts.size).toBeLessThan(400);
  expect([...counts.values()].every((count) => count === 2)).toBe(true);
});

test('a collector that is away or refuses delays nothing, and is in the log', async () => {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const warnings = createLog({ level: 'warn', name: 'test', destination });
  const server = createServer((_, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  for (const at of [port, 9]) {
    const settings = { url: `http://127.0.0.1:${at}/v1/traces`, headers: {}, sampled: 1 };
    const tracer = await createTracer(settings, { service: 'bursar-test', log: warnings });
    // More than may wait: the rest is dropped.
    for (let i = 0; i < 6_000; i += 1) tracer.record(spanOf(null));
    await tracer.close();
  }
  server.close();
  const text = lines.join('');
  expect(text).toContain('the trace collector refused spans');
  expect(text).toContain('spans could not be sent');
});
