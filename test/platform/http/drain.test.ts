import { connect } from 'node:net';
import { Agent, fetch } from 'undici';
import { createServer } from '../../../src/platform/http/server.js';
import { createTestApp, type TestAppOptions } from './test-app.js';

async function start(options: TestAppOptions & { drainWithinMs?: number; noticeMs?: number } = {}) {
  const app = await createTestApp(options);
  const { drainWithinMs, noticeMs } = options;
  const server = createServer({
    app: app.app,
    health: app.health,
    log: app.log,
    ...(drainWithinMs !== undefined && { drainWithinMs }),
    ...(noticeMs !== undefined && { noticeMs }),
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const { key } = await app.createKey();
  const dispatcher = new Agent();
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      dispatcher,
      headers: { authorization: `Bearer ${key}` },
    });
  const close = async () => {
    await dispatcher.close();
    await app.close();
  };
  return { app, server, port, get, close };
}

test('a draining server answers requests in progress and refuses new connections', async () => {
  const { app, server, get, close } = await start();
  await get('/api/v1/things');
  const slow = Promise.all([get('/api/v1/slow'), get('/api/v1/slow'), get('/api/v1/slow')]);
  while (app.effects.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  const drained = server.drain();
  expect(server.drain()).toBe(drained);
  const answers = await slow;
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
  expect(await answers[0]?.json()).toEqual({ success: true, data: { slow: true } });
  await drained;
  await expect(get('/health/live')).rejects.toThrow('fetch failed');
  await close();
});

test('a draining server reports not ready before it refuses connections', async () => {
  const { server, get, close } = await start({ noticeMs: 3_000 });
  expect((await get('/health/ready')).status).toBe(200);
  const drained = server.drain();
  const ready = await get('/health/ready');
  expect(ready.status).toBe(503);
  expect(ready.headers.get('retry-after')).toBe('1');
  expect(await ready.json()).toMatchObject({
    success: false,
    error: { code: 'service_unavailable', details: { status: 'draining' } },
  });
  expect((await get('/health/live')).status).toBe(200);
  expect((await get('/api/v1/things')).status).toBe(200);
  await drained;
  await close();
});

test('a draining server closes connections that are open after the limit, half-open ones included', async () => {
  const { app, server, port, get, close } = await start({ drainWithinMs: 100 });
  const idle = connect(port, '127.0.0.1');
  const half = connect(port, '127.0.0.1', () => half.write('GET / HTTP/1.1\r\nHost'));
  const ended = Promise.all(
    [idle, half].map((socket) => {
      socket.on('error', () => {});
      return new Promise((resolve) => socket.once('close', resolve));
    }),
  );
  const slow = get('/api/v1/slow').catch((error: unknown) => error);
  while (app.effects.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await server.drain();
  await ended;
  expect(await slow).toBeInstanceOf(Error);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await close();
});

test('a draining server closes idle, unused and half-open connections at once, without using up the time limit', async () => {
  const { app, server, port, close } = await start({ drainWithinMs: 60_000 });
  const ended: Promise<unknown>[] = [];
  const opened = (first: string) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(first));
    socket.on('error', () => {});
    ended.push(new Promise((resolve) => socket.once('close', resolve)));
    return socket;
  };
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: bursar\r\n\r\n`;
  const idle = opened(request('/health/live'));
  await new Promise((resolve) => idle.once('data', resolve));
  opened('');
  opened('GET / HTTP/1.1\r\nHost');
  // The second request of this connection has arrived in part when its first is answered.
  const pipelined = opened(`${request('/health/live')}GET / HT`);
  await new Promise((resolve) => pipelined.once('data', resolve));
  await server.drain();
  await Promise.all(ended);
  expect(app.effects).toEqual([]);
  await close();
});

test('a draining server answers a request in progress with Connection: close, and closes the connection', async () => {
  const { app, server, port, close } = await start({ drainWithinMs: 60_000 });
  const { key } = await app.createKey();
  let answer = '';
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(
      `GET /api/v1/slow HTTP/1.1\r\nHost: bursar\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    ),
  );
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  const ended = new Promise((resolve) => socket.once('close', resolve));
  while (app.effects.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await server.drain();
  await ended;
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  expect(answer).toContain('"slow":true');
  await close();
});

test('listening on a port in use fails instead of hanging', async () => {
  const { server, port, close } = await start();
  const other = await start();
  const again = createServer({ app: other.app.app, health: other.app.health, log: other.app.log });
  await expect(again.listen({ host: '127.0.0.1', port })).rejects.toThrow('EADDRINUSE');
  await Promise.all([server.drain(), other.server.drain()]);
  await close();
  await other.close();
});
