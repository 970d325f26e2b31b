import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import request from 'supertest';
import { connectDatabase } from '../../../src/platform/database/client.js';
import { createWriteProbe } from '../../../src/platform/database/write-probe.js';
import { sharedEngines } from '../../support/engines.js';
import { eventually } from '../../support/eventually.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { createTestApp } from './test-app.js';

/** Far less than the slow routes take here. */
const TIME_LIMITS = { doubtAfterMs: 10, answerWithinMs: 1_000 };
const SLOW_MS = 3_000;
/** Longer than a database that is up takes on a busy machine. */
const UNRESPONSIVE_AFTER_MS = 750;

let network: Awaited<ReturnType<typeof startTcpProxy>>;
let far: Awaited<ReturnType<typeof connectDatabase>>;
let app: Awaited<ReturnType<typeof createTestApp>>;
let server: Server;
let key: string;

/** The write probe uses a connection that can be cut; the rest of the application keeps its database. */
beforeAll(async () => {
  network = await startTcpProxy(sharedEngines().mongodbUri);
  far = await connectDatabase({ uri: network.uri, database: 'test_write_probe' }, 'test');
  const writeProbe = createWriteProbe(far, { unresponsiveAfterMs: UNRESPONSIVE_AFTER_MS });
  app = await createTestApp({ writeProbe, timeLimits: TIME_LIMITS, slowMs: SLOW_MS });
  ({ key } = await app.createKey());
  server = createServer((req, res) => void app.server(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  server.close();
  network.close();
  await far.client.close();
  await app.close();
});

const callApi = (method: 'get' | 'post', path: string) =>
  request(server)[method](`/api/v1${path}`).set('Authorization', `Bearer ${key}`);

test('a slow request is not cut off while the database answers', async () => {
  const statuses: number[] = [];
  // One late answer is possible on a busy machine.
  for (let i = 0; i < 3 && !statuses.includes(200); i += 1) {
    statuses.push((await callApi('get', '/slow')).status);
  }
  expect(statuses).toContain(200);
});

describe('while the database does not answer', () => {
  beforeAll(() => network.cut());
  afterAll(async () => {
    network.heal();
    await eventually('it answers', async () =>
      (await callApi('get', '/slow')).status === 200 ? true : undefined,
    );
  });

  test('while the database does not answer, a hanging request gets a complete 503 that calls its outcome unknown', async () => {
    const read = await callApi('get', '/slow');
    const write = await callApi('post', '/slow');
    for (const { status, headers } of [read, write]) {
      expect(status).toBe(503);
      expect(headers).toMatchObject({
        'retry-after': '1',
        'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
        'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
        'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
      });
    }
    expect(read.body.error.message).toContain('try again');
    expect(write.body.error).toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('outcome is not known'),
    });
    // The work that had begun continues without affecting other requests.
    await eventually('it has ended', () => app.effects.includes('late') || undefined);
    await eventually('no place is taken', () => app.load.now().working === 0 || undefined);
  });

  test('while the database does not answer, time spent at a provider does not count', async () => {
    expect((await callApi('get', '/slow-provider')).status).toBe(200);
  });

  test('while the database does not answer, time spent on a slow body does not count', async () => {
    const body = '{"amount_minor":1,"account":"0123456789"}';
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(
      `POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{`,
    );
    await sleep(TIME_LIMITS.answerWithinMs + 1_000);
    socket.write(body.slice(1));
    await eventually('the answer', () => answer.includes('\r\n\r\n') || undefined);
    expect(answer).toMatch(/^HTTP\/1\.1 201 /);
    socket.destroy();
  });
});
