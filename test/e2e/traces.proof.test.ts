import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRANSACTION_OPTIONS } from '../../src/platform/database/client.js';
import { traceIdOf } from '../../src/platform/tracing/tracer.js';
import { eventually } from '../support/eventually.js';
import { startListening, type Listening } from '../support/listening.js';
import { transferBody, type TestTenant } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

type Value = { stringValue?: string; intValue?: string };
type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Value }[];
  links?: { traceId: string }[];
};
type Export = {
  resourceSpans: {
    resource: { attributes: { key: string; value: Value }[] };
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
};

/** A collector of traces: OTLP over HTTP, JSON. */
async function startCollector() {
  const bodies: string[] = [];
  const headers: unknown[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(`${request.url} ${Buffer.concat(chunks).toString()}`);
      headers.push(request.headers['x-tenant']);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    headers,
    spans: () =>
      bodies.flatMap((body) =>
        (JSON.parse(body.slice(body.indexOf(' '))) as Export).resourceSpans.flatMap(
          ({ resource, scopeSpans }) =>
            scopeSpans.flatMap(({ spans }) =>
              spans.map((span) => ({
                ...span,
                service: resource.attributes.find(({ key }) => key === 'service.name')?.value
                  .stringValue,
                of: Object.fromEntries(
                  span.attributes.map(({ key, value }) => [
                    key,
                    value.stringValue ?? Number(value.intValue),
                  ]),
                ),
              })),
            ),
        ),
      ),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let collector: Awaited<ReturnType<typeof startCollector>>;
let all: Listening;
beforeAll(async () => {
  collector = await startCollector();
  all = await startListening({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=ops',
  });
});
afterAll(async () => {
  await all?.close();
  await collector?.close();
});

/** The begin of each span’s name that the trace must have. */
const WANTED = [
  'POST ',
  'workflow ',
  'activity ',
  'sandbox-bank transfers.submit',
  'webhook transfer.completed',
];

test('one trace shows a transfer from the request over commit, workflow, activity and call to the webhook of its tenant', async () => {
  const receiver = await all.receiver();
  const { tenant } = await all.tenant(receiver);
  const body = { ...transferBody('001'), narration: 'for the wedding of Ada' };
  const { body: answer } = await tenant.transfer(body);
  const { id } = answer.data;
  await tenant.waitFor(id, 'completed');
  const own = () => collector.spans().filter(({ traceId }) => traceId === traceIdOf(id));
  const found = await eventually('the trace is complete', () => {
    const spans = own();
    const names = spans.map(({ name }) => name);
    const missing = WANTED.filter((start) => !names.some((name) => name.startsWith(start)));
    const known = new Set(spans.map(({ spanId }) => spanId));
    const hasParent = spans.every(({ parentSpanId: of }) => of === undefined || known.has(of));
    if (!hasParent) missing.push('a parent');
    if (missing.length > 0) throw new Error(`${missing.join()} is missing in ${names.join()}`);
    return spans;
  });
  const named = (start: string) => {
    const span = found.find(({ name }) => name.startsWith(start));
    if (!span) throw new Error(`no span ${start} in ${found.map(({ name }) => name).join(', ')}`);
    return span;
  };
  const root = named('POST ');
  const workflow = named('workflow transfers');
  expect(root).toMatchObject({
    service: 'bursar-api',
    name: 'POST /api/v1/transfers',
    kind: 2,
    of: { 'bursar.resource': id, 'bursar.tenant': tenant.id, 'http.response.status_code': 201 },
  });
  expect(root.parentSpanId).toBeUndefined();
  expect(workflow).toMatchObject({
    parentSpanId: root.spanId,
    of: { 'bursar.outcome': 'completed', 'temporal.workflow_id': `transfer/${id}` },
  });
  const commits = found.filter(({ name }) => name === 'commit');
  expect(commits.filter(({ parentSpanId }) => parentSpanId === root.spanId)).not.toHaveLength(0);
  expect(named('activity ')).toMatchObject({
    service: 'bursar-worker',
    parentSpanId: workflow.spanId,
  });
  const submit = named('sandbox-bank transfers.submit');
  expect(submit.of['bursar.provider_request_id']).toEqual(expect.any(String));
  expect(submit.kind).toBe(3);
  expect(named('webhook transfer.completed')).toMatchObject({
    parentSpanId: workflow.spanId,
    of: { 'http.response.status_code': 204 },
  });
  const ids = new Set(found.map(({ spanId }) => spanId));
  for (const { name, parentSpanId, startTimeUnixNano, endTimeUnixNano } of found) {
    expect([name, parentSpanId === undefined || ids.has(parentSpanId)]).toEqual([name, true]);
    expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
  }
  expect(collector.headers[0]).toBe('ops');
  const text = collector.bodies.join();
  expect(text.startsWith('/v1/traces ')).toBe(true);
  for (const secret of [body.recipient_account, 'wedding', tenant.key]) {
    expect(text).not.toContain(secret);
  }
});

const TOGETHER = 16;
const MICRO_BATCH = 'activity submitTransferMicroBatch';
/** Time until the wallet’s commits are blocked, and time for the new requests to wait behind the blocked commit. */
const HELD_UP_AFTER_MS = 100;
const HELD_UP_FOR_MS = 1_000;

/** Sends transfers that one commit accepts: they wait behind the commit of another one, which this function blocks. */
async function sendTogether(tenant: TestTenant): Promise<string[]> {
  const { client, db } = all.service.deps.database;
  const session = client.startSession();
  try {
    session.startTransaction(TRANSACTION_OPTIONS);
    const ours = { _id: tenant.id } as object;
    await db.collection('wallets').updateOne(ours, { $inc: { version: 1n } }, { session });
    const before = tenant.send();
    await sleep(HELD_UP_AFTER_MS);
    const ids = Promise.all(Array.from({ length: TOGETHER }, () => tenant.send()));
    await sleep(HELD_UP_FOR_MS);
    await session.abortTransaction();
    await before;
    return await ids;
  } finally {
    await session.endSession();
  }
}

/** The spans of each of these transfers, once all have what their traces must have. */
const completeTraces = (ids: readonly string[]) =>
  eventually('all traces are complete', () => {
    const spans = collector.spans();
    const traces = ids.map((id) => ({
      id,
      found: spans.filter(({ traceId }) => traceId === traceIdOf(id)),
    }));
    for (const { id, found } of traces) {
      const missing = [...WANTED, 'commit'].filter(
        (start) => !found.some(({ name }) => name.startsWith(start)),
      );
      if (missing.length > 0) throw new Error(`${missing.join()} is missing in that of ${id}`);
    }
    return traces;
  });

test('each of sixteen transfers that share a micro-batch has a trace of its own, with its request, commit, submission and webhook', async () => {
  const receiver = await all.receiver();
  const { tenant } = await all.tenant(receiver);
  /** The micro-batches that the traces name. A request that came too late is in none, or in another one. */
  const sharedBy = (traces: Awaited<ReturnType<typeof completeTraces>>) =>
    traces.map(({ found }) => {
      const shared = found.find(({ name }) => name === MICRO_BATCH);
      return shared?.of['temporal.workflow_id'];
    });
  const traces = await inTries(
    3,
    async () => completeTraces(await sendTogether(tenant)),
    (found) => new Set(sharedBy(found)).size === 1,
  );
  expect(new Set(sharedBy(traces))).toEqual(
    new Set([expect.stringMatching(/^transfer-micro-batch\/trf_/)]),
  );
  for (const { id, found } of traces) {
    const named = (name: string) => found.filter((span) => span.name === name);
    const [root, ...more] = named('POST /api/v1/transfers');
    expect(more).toEqual([]);
    expect(root?.parentSpanId).toBeUndefined();
    expect(root?.of).toMatchObject({
      'bursar.resource': id,
      'bursar.tenant': tenant.id,
      'http.response.status_code': 201,
    });
    const accepting = named('commit').filter(({ parentSpanId }) => parentSpanId === root?.spanId);
    expect(accepting).not.toHaveLength(0);
    const [workflow] = named('workflow transfers');
    expect(workflow).toMatchObject({
      parentSpanId: root?.spanId,
      of: { 'bursar.resource': id, 'bursar.outcome': 'completed' },
    });
    const submissions = named('sandbox-bank transfers.submit');
    expect(submissions).toHaveLength(1);
    expect(submissions[0]).toMatchObject({
      parentSpanId: workflow?.spanId,
      of: { 'bursar.resource': id },
    });
    expect(named('webhook transfer.completed')).toEqual([
      expect.objectContaining({
        parentSpanId: workflow?.spanId,
        of: expect.objectContaining({ 'http.response.status_code': 204 }),
      }),
    ]);
  }
});

test('a trace of the caller is linked to the trace of the transfer, which a repeated request does not begin again', async () => {
  const tenant = await all.service.tenant();
  const caller = '0af7651916cd43dd8448eb211c80319c';
  const body = JSON.stringify(transferBody());
  const send = () =>
    fetch(`${all.service.api.url}/api/v1/transfers`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenant.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'traced',
        traceparent: `00-${caller}-b7ad6b7169203331-01`,
      },
      body,
    });
  const { data } = (await (await send()).json()) as { data: { id: string } };
  expect((await send()).headers.get('idempotent-replayed')).toBe('true');
  const linked = () =>
    collector.spans().filter(({ links }) => links?.some(({ traceId }) => traceId === caller));
  const spans = await eventually('both requests are exported', () =>
    linked().length === 2 ? linked() : undefined,
  );
  expect(spans.filter(({ traceId }) => traceId === traceIdOf(data.id))).toHaveLength(1);
});
