import { createCompletionWaiters } from '../../../src/shared/completion-waiter.js';
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createTemporal, type Temporal } from '../../../src/platform/temporal/client.js';
import {
  createWorkflowStarter,
  MAX_IN_FLIGHT,
  type WorkflowStarter,
} from '../../../src/core/supervision/workflow-starter.js';
import { createLog } from '../../../src/shared/log.js';
import { eventually } from '../../support/eventually.js';
import { linesInto } from '../../support/log-lines.js';

type Named = { _id: string; tenant_id?: string };

/** A server that takes signals, and answers them when it is told to. */
let server: Http2Server;
let temporal: Temporal;
let starter: WorkflowStarter<Named>;
const open = new Set<ServerHttp2Stream>();
let taken = 0;
let lines: string[] = [];
let most = 0;

beforeEach(async () => {
  open.clear();
  [taken, most, lines] = [0, 0, []];
  server = createServer({ peerMaxConcurrentStreams: 100_000 });
  server.on('stream', (stream: ServerHttp2Stream, { ':path': path }) => {
    stream.on('error', () => undefined);
    stream.on('close', () => open.delete(stream));
    stream.resume();
    if (!String(path).endsWith('/SignalWorkflowExecution')) return answer(stream);
    open.add(stream);
    taken += 1;
    most = Math.max(most, open.size);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  temporal = createTemporal({
    connection: { address: `127.0.0.1:${port}` },
    namespace: 'default',
  });
  starter = createWorkflowStarter<Named>({
    client: temporal.client,
    taskQueue: 'test',
    startsEagerly: false,
    completionWaiters: createCompletionWaiters(),
    log: createLog({ level: 'warn', name: 'test', destination: linesInto(lines) }),
    workflow: 'transfer',
    workflowId: ({ _id }) => `transfer/${_id}`,
    toStart: () => {
      throw new Error('nothing is started here');
    },
  });
});

afterEach(async () => {
  await temporal.close();
  server.close();
  for (const stream of open) stream.destroy();
});

/** Answers with an empty message. */
function answer(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.alloc(5));
}

test('signals in flight never exceed their limit, however many records change while Temporal does not answer', async () => {
  for (let n = 0; n < 50_000; n += 1) starter.notifyChangedSoon({ _id: String(n) });
  await eventually('the signals have arrived', async () =>
    taken >= MAX_IN_FLIGHT ? true : undefined,
  );
  expect(most).toBe(MAX_IN_FLIGHT);
  for (const stream of open) answer(stream);
  await starter.idle();
  expect(taken).toBe(MAX_IN_FLIGHT);
});

test('one signal per workflow is in flight, and all changes meanwhile cause one more', async () => {
  for (let n = 0; n < 1_000; n += 1) starter.notifyChangedSoon({ _id: 'a' });
  await eventually('a signal has arrived', async () => (taken > 0 ? true : undefined));
  expect(taken).toBe(1);
  for (const stream of open) answer(stream);
  await eventually('the later signal has arrived', async () => (taken > 1 ? true : undefined));
  for (const stream of open) answer(stream);
  await starter.idle();
  expect(taken).toBe(2);
});

test('a start that fails is logged with the record, its tenant and its workflow', async () => {
  starter.startSoon({ _id: 'trf_1', tenant_id: 'ten_a' });
  await starter.idle();
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({
      level: 'warn',
      resource: 'trf_1',
      tenant: 'ten_a',
      workflow_id: 'transfer/trf_1',
      msg: 'workflow start failed, dispatcher will retry',
    }),
  ]);
});
