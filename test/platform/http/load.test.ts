import { connect } from 'node:net';
import request from 'supertest';
import { createServer } from '../../../src/platform/http/server.js';
import { eventually } from '../../support/eventually.js';
import { createTestApp, type TestAppOptions } from './test-app.js';

type Limits = { headersWithinMs?: number; requestWithinMs?: number; maxConnections?: number };

async function start(options: TestAppOptions = {}, limits: Limits = {}) {
  const app = await createTestApp(options);
  const onDrop = app.load.connectionRefused;
  const server = createServer({
    app: app.app,
    health: app.health,
    log: app.log,
    onDrop,
    ...limits,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const { key } = await app.createKey();
  return {
    app,
    key,
    get: (path: string) =>
      request(`http://127.0.0.1:${port}`).get(path).set('Authorization', `Bearer ${key}`),
    /** Opens a connection; resolves with all bytes that came back once it is closed. */
    open(text: string) {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      const closed = new Promise<string>((resolve) => {
        let answer = '';
        socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
        socket.on('error', () => {});
        socket.on('close', () => resolve(answer));
      });
      return { socket, closed };
    },
    async close() {
      await server.drain();
      await app.close();
    },
  };
}
type Started = Awaited<ReturnType<typeof start>>;

const ENVELOPE = {
  success: false,
  error: {
    code: 'service_unavailable',
    message: expect.stringContaining('try again'),
    status: 503,
  },
};

/** Expects a complete refusal while health checks still answer. */
async function expectRefusal({ get }: Started): Promise<void> {
  const refused = await get('/api/v1/things').set('X-Request-Id', 'refused-1');
  expect([refused.status, refused.body]).toEqual([503, ENVELOPE]);
  expect(refused.headers).toMatchObject({
    'retry-after': '2',
    'x-request-id': 'refused-1',
    'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
    'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
    'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
  });
  expect((await get('/health/live')).status).toBe(200);
  expect((await get('/health/ready')).status).toBe(200);
}

test('above the limit of requests in progress, further ones are refused before any work for them', async () => {
  const full = await start({ load: { maxInFlight: 0 } });
  await expectRefusal(full);
  expect(full.app.load.now().refused).toMatchObject({ in_flight: 1 });
  // Neither a key nor a counter of an address was read.
  expect(await full.app.database.db.collection('rate_limits').countDocuments()).toBe(0);
  expect((await full.get('/api/v1/things').unset('Authorization')).status).toBe(503);
  await full.close();
});

test('a flood is served up to the limit, and afterwards every request again', async () => {
  const small = await start({ load: { maxInFlight: 2 } });
  const { app, get } = small;
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async () => (await get('/api/v1/slow')).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  const served = statuses.filter((status) => status === 200).length;
  expect(app.effects).toHaveLength(served);
  expect(app.load.now().refused.in_flight).toBe(statuses.length - served);
  // Every answer, whatever its status, has freed its place.
  const paths = ['/api/v1/things', '/api/v1/broken', '/api/v1/nowhere', '/nowhere'];
  for (const path of [...paths, ...paths]) expect((await get(path)).status).not.toBe(503);
  expect(app.load.now()).toMatchObject({ working: 0, waiting: 0 });
  await small.close();
});

test('a client with a slow body takes no place from others', async () => {
  const small = await start({ load: { maxInFlight: 1 } });
  const slow = small.open(
    `POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${small.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"amount_minor"`,
  );
  await eventually('its body is waited for', () => small.app.load.now().waiting === 1 || undefined);
  expect((await small.get('/api/v1/things')).status).toBe(200);
  slow.socket.destroy();
  await eventually('it is gone', () => small.app.load.now().waiting === 0 || undefined);
  await small.close();
});

test('requests are refused while the event loop is blocked repeatedly, and served when it is free', async () => {
  const app = await start({ load: { maxLagMs: 30, measureEveryMs: 50 } });
  const blocking = { now: true };
  const blocker = (async () => {
    while (blocking.now) {
      for (const end = performance.now() + 100; performance.now() < end;);
      await new Promise(setImmediate);
    }
  })();
  await eventually('the lag is measured', async () =>
    (await app.get('/api/v1/things')).status === 503 ? true : undefined,
  );
  await expectRefusal(app);
  blocking.now = false;
  await blocker;
  await eventually('it is served again', async () =>
    (await app.get('/api/v1/things')).status === 200 ? true : undefined,
  );
  expect(app.app.load.now().refused.event_loop).toBeGreaterThanOrEqual(2);
  const logged = app.app.lines.map((line) => JSON.parse(line));
  expect(logged.find(({ msg }) => msg === 'overloaded')).toMatchObject({
    level: 'warn',
    refused: expect.any(Number),
  });
  await app.close();
});

test('slow headers and slow bodies are cut off with 408 in the envelope', async () => {
  const hasty = await start({}, { headersWithinMs: 2_000, requestWithinMs: 4_000 });
  const authorized = `Host: x\r\nAuthorization: Bearer ${hasty.key}\r\n`;
  const answers = await Promise.all([
    hasty.open('GET /api/v1/things HTTP/1.1\r\nHost').closed,
    hasty.open(
      `POST /api/v1/things HTTP/1.1\r\n${authorized}Content-Type: application/json\r\n` +
        `Content-Length: 100\r\n\r\n{`,
    ).closed,
    hasty.open(
      `POST /api/v1/webhooks/payments/bank HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{`,
    ).closed,
  ]);
  for (const answer of answers) {
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toMatch(/\r\nX-Request-Id: req_/);
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
    expect(body).toMatchObject({ success: false, error: { status: 408 } });
  }
  expect(hasty.app.effects).toEqual([]);
  expect((await hasty.get('/api/v1/things')).status).toBe(200);
  await hasty.close();
});

test('above the limit of connections, further ones are closed until one ends', async () => {
  const narrow = await start({}, { maxConnections: 2 });
  const [one, two] = [narrow.open('GET'), narrow.open('GET')];
  await Promise.all([one, two].map(({ socket }) => new Promise((r) => socket.once('connect', r))));
  expect(await narrow.open('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n').closed).toBe('');
  expect(narrow.app.load.now().refused.connections).toBe(1);
  one.socket.destroy();
  await eventually('there is room again', async () =>
    (await narrow.get('/health/live')).status === 200 ? true : undefined,
  );
  two.socket.destroy();
  await narrow.close();
});

test('no header is dropped silently, however many there are', async () => {
  const app = await start();
  const many = Array.from({ length: 2_500 }, (_, i) => `${i.toString(36)}:\r\n`).join('');
  const { closed } = app.open(
    `GET /api/v1/things HTTP/1.1\r\nHost: x\r\n${many}Authorization: Bearer ${app.key}\r\nConnection: close\r\n\r\n`,
  );
  expect(await closed).toMatch(/^HTTP\/1\.1 200 /);
  await app.close();
});
