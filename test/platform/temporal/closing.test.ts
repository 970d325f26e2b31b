import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTemporal, type Temporal } from '../../../src/platform/temporal/client.js';

/** gRPC's RESOURCE_EXHAUSTED: the client repeats such a call after more than a second. */
const EXHAUSTED = '8';
/** A call that is never settled fails its test after this time. */
const LIMIT_MS = 30_000;

let server: Http2Server;
let temporal: Temporal;

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  temporal = createTemporal({ connection: { address: `127.0.0.1:${port}` }, namespace: 'any' });
});

afterEach(() => server.close());

const refuse = (stream: ServerHttp2Stream) =>
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': EXHAUSTED },
    { endStream: true },
  );

/** Begins a call, and returns its result and its first request at the server. */
async function begin() {
  const arrival = once(server, 'stream');
  const call = temporal.client.workflow.getHandle('any').signal('any');
  const result = call.then(
    () => 'accepted',
    () => 'rejected',
  );
  const [stream] = (await arrival) as [ServerHttp2Stream];
  return { result, stream };
}

test(
  'a call that waits for its retry is rejected when the client closes, without an uncaught exception',
  async () => {
    const { result, stream } = await begin();
    server.on('stream', refuse);
    refuse(stream);
    await once(stream, 'close');
    await sleep(200);
    await temporal.close();
    expect(await result).toBe('rejected');
  },
  LIMIT_MS,
);

test(
  'a call that fails after the client has closed is not repeated',
  async () => {
    const { result, stream } = await begin();
    await temporal.close();
    refuse(stream);
    expect(await result).toBe('rejected');
  },
  LIMIT_MS,
);

test(
  'a call without a server is rejected when the client closes',
  async () => {
    server.close();
    await once(server, 'close');
    const call = temporal.client.workflow.getHandle('any').signal('any');
    const result = call.then(
      () => 'accepted',
      () => 'rejected',
    );
    await sleep(50);
    await temporal.close();
    expect(await result).toBe('rejected');
  },
  LIMIT_MS,
);
