import { connect } from 'node:net';
import request from 'supertest';
import { createServer, type HttpServer } from '../../../src/platform/http/server.js';
import { createTestApp } from './test-app.js';

type TestApp = Awaited<ReturnType<typeof createTestApp>>;
let app: TestApp;
let server: HttpServer;
let port: number;
let key: string;
beforeAll(async () => {
  app = await createTestApp();
  server = createServer({ app: app.app, health: app.health, log: app.log });
  ({ port } = await server.listen({ host: '127.0.0.1', port: 0 }));
  ({ key } = await app.createKey({ level: 'admin' }));
});
afterAll(async () => {
  await server.drain();
  await app.close();
});
const call = (
  method: 'get' | 'post' | 'head' | 'options' | 'delete' | 'patch' | 'trace',
  path: string,
) => request(`http://127.0.0.1:${port}`)[method](path).set('Authorization', `Bearer ${key}`);

/** Sends bytes that no client library would send, and resolves with the bytes of the answer. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
}
/** Parses the body of an answer after checking that it has the common headers. */
function envelopeOf(answer: string): { success: boolean; error: Record<string, unknown> } {
  const end = answer.indexOf('\r\n\r\n');
  for (const name of ['Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']) {
    expect(answer.slice(0, end)).toMatch(new RegExp(`\r\nX-${name}: \\S`));
  }
  expect(answer.slice(0, end)).toContain('\r\nCache-Control: no-store\r\n');
  return JSON.parse(answer.slice(end + 4));
}

test.each(['delete', 'patch', 'trace'] as const)(
  '%s on a path that has other methods is 405 with Allow, in the envelope',
  async (method) => {
    const answer = await call(method, '/api/v1/things');
    expect(answer.status).toBe(405);
    expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS, POST');
    expect(answer.body).toMatchObject({
      success: false,
      error: { code: 'method_not_allowed', status: 405 },
    });
  },
);

test('unknown methods are 405 too', async () => {
  for (const method of ['PROPFIND', 'PURGE', 'QUERY']) {
    const answer = await exchange(
      `${method} /api/v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
    expect(answer).toContain('Allow: GET, HEAD, OPTIONS, POST');
  }
});

test('a callback route answers another method like any other path', async () => {
  const answer = await call('get', '/api/v1/webhooks/payments/bank');
  expect([answer.status, answer.headers['allow']]).toEqual([405, 'OPTIONS, POST']);
});

test('OPTIONS lists the methods of a path, without a key', async () => {
  const answer = await request(`http://127.0.0.1:${port}`).options('/api/v1/things');
  expect([answer.status, answer.headers['allow'], answer.text]).toEqual([
    204,
    'GET, HEAD, OPTIONS, POST',
    '',
  ]);
});

test('HEAD is GET without the body', async () => {
  const [head, get] = [await call('head', '/api/v1/things'), await call('get', '/api/v1/things')];
  expect(head.status).toBe(200);
  expect(head.text ?? '').toBe('');
  expect(head.headers['content-length']).toBe(get.headers['content-length']);
  expect((await call('head', '/api/v1/nowhere')).status).toBe(404);
});

test('an unknown route is 404 with a key and 401 without one', async () => {
  const answer = await call('get', '/api/v1/nowhere');
  expect(answer.status).toBe(404);
  expect(answer.body).toMatchObject({ success: false, error: { code: 'not_found', status: 404 } });
  const stranger = await request(`http://127.0.0.1:${port}`).get('/api/v1/nowhere');
  expect(stranger.status).toBe(401);
  for (const path of ['/api', '/api/v2/things', '/v1/things', '/api/v1things']) {
    expect((await request(`http://127.0.0.1:${port}`).get(path)).status).toBe(404);
  }
});

test('the root answers with links that work, and redirects a browser to the documentation', async () => {
  const root = (accept: string) =>
    request(`http://127.0.0.1:${port}`).get('/').set('Accept', accept).redirects(0);
  const browser = await root('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8');
  expect([browser.status, browser.headers['location']]).toEqual([302, '/docs']);
  for (const accept of ['*/*', 'application/json']) {
    const answer = await root(accept);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        data: {
          service: 'Bursar',
          version: expect.any(String),
          api: '/api/v1',
          openapi: '/openapi.json',
          docs: '/docs',
          health: '/health/ready',
        },
      },
    ]);
    for (const path of [answer.body.data.openapi, answer.body.data.health]) {
      expect((await request(`http://127.0.0.1:${port}`).get(path)).status).toBe(200);
    }
  }
  expect((await request(`http://127.0.0.1:${port}`).post('/')).status).toBe(404);
});

test('a valid request id is kept, any other is replaced', async () => {
  const withId = async (id: string) =>
    (await call('get', '/api/v1/things').set('X-Request-Id', id)).headers['x-request-id'];
  expect(await withId('my-request_42')).toBe('my-request_42');
  expect(await withId('a b')).toMatch(/^req_/);
  expect(await withId('x'.repeat(65))).toMatch(/^req_/);
  expect(await withId('{"$gt":1}')).toMatch(/^req_/);
  for (const kept of [
    '123e4567-e89b-12d3-a456-426614174000',
    'job-123e4567-e89b-12d3-a456-426614174000',
    'order-20261125-7',
    '4bf92f3577b34da6a3ce929d01234567890e4736',
    '0af7651916123456789012345680319c',
  ]) {
    expect(await withId(kept)).toBe(kept);
  }
});

test('a request id with a key, or a number of an account, a telephone or a card, is neither returned nor logged', async () => {
  app.lines.length = 0;
  for (const secret of [
    key,
    '0123456789',
    'to-0123456789',
    'to0123456789x',
    '22123456789',
    '2348035557799',
    '0803-555-7799',
    '4242424242424242',
    '4242-4242_4242-4242',
    '378282246310005',
    '6304000000000000000',
    'card4242424242424242of',
    '42424242-4242-4242-0000-000000000000',
  ]) {
    const answer = await call('get', '/api/v1/things').set('X-Request-Id', secret);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expect(app.lines.join('')).not.toContain(secret);
  }
});

test('answers are not to be cached, framed, sniffed or executed', async () => {
  const { headers } = await call('get', '/api/v1/things');
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  expect(headers['strict-transport-security']).toContain('max-age=31536000');
  expect(headers['x-powered-by']).toBeUndefined();
});

test('a message that is not HTTP gets an envelope and a closed connection', async () => {
  const answer = await exchange('NOT HTTP AT ALL\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/x-request-id: req_/i);
  expect(envelopeOf(answer)).toMatchObject({ success: false, error: { status: 400 } });
});

test('headers that are too large get 431 in an envelope', async () => {
  const answer = await exchange(
    `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  expect(envelopeOf(answer)).toMatchObject({ success: false, error: { status: 431 } });
});

test('an unknown expectation is ignored', async () => {
  const answer = await exchange(
    `GET /api/v1/things HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test('CONNECT gets 405 in an envelope', async () => {
  const answer = await exchange(
    'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 405 /);
  expect(answer).toMatch(/\r\nAllow: \r\n/);
  expect(envelopeOf(answer)).toMatchObject({
    success: false,
    error: { code: 'method_not_allowed', status: 405 },
  });
});

test('a request without a Host, or with two, is refused in an envelope; HTTP/1.0 needs none', async () => {
  const get = (version: string, hosts: string) =>
    exchange(
      `GET /api/v1/things HTTP/${version}\r\n${hosts}Connection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
  for (const hosts of ['', 'Host: a\r\nHost: b\r\n', 'Host: a\r\nhost: a\r\n']) {
    const answer = await get('1.1', hosts);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(envelopeOf(answer)).toMatchObject({ success: false, error: { status: 400 } });
  }
  expect(await get('1.1', 'Host: a\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await get('1.0', '')).toMatch(/^HTTP\/1\.1 200 /);
});

test('the health endpoints answer GET and HEAD only', async () => {
  const answer = await call('delete', '/health/live');
  expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD']);
});

test('a 415 names the accepted type', async () => {
  const post = () => call('post', '/api/v1/things');
  const text = await post().type('text').send('x');
  expect([text.status, text.headers['accept']]).toEqual([415, 'application/json']);
  const zipped = await post().set('Content-Encoding', 'gzip').type('json').send('{}');
  expect([zipped.status, zipped.headers['accept-encoding']]).toEqual([415, 'identity']);
});
