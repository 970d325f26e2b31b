import request from 'supertest';
import { createTestApp } from './test-app.js';

let app: Awaited<ReturnType<typeof createTestApp>>;
let key: string;

beforeAll(async () => {
  app = await createTestApp();
  ({ key } = await app.createKey());
});

afterAll(async () => {
  await app?.close();
});

const get = (path: string) =>
  request(app.server).get(`/api/v1${path}`).set('Authorization', `Bearer ${key}`);

test('a fixed segment of a path is not read as the id of a resource', async () => {
  expect((await get('/things/best')).body.data).toEqual({ best: true });
  expect((await get('/things/better')).body.data).toMatchObject({ id: 'better' });
});

test('a fixed segment of a path has its own methods only', async () => {
  const answer = await get('/things/import');
  expect([answer.status, answer.body.error.code]).toEqual([405, 'method_not_allowed']);
  expect(answer.headers['allow']).toBe('OPTIONS, POST');
});

test('every route refuses an unknown query parameter by name', async () => {
  const answer = await get('/things/7?expand=all');
  expect([answer.status, answer.body.error.code]).toEqual([400, 'validation_error']);
  expect(answer.body.error.field).toBe('expand');
});

test('a route without a body accepts an absent or empty one, and no other', async () => {
  const lock = () =>
    request(app.server).post('/api/v1/things/7/lock').set('Authorization', `Bearer ${key}`);
  expect((await lock()).status).toBe(201);
  expect((await lock().send({})).status).toBe(201);
  const answer = await lock().send({ reason: 'lost' });
  expect([answer.status, answer.body.error.field]).toEqual([400, 'reason']);
});

describe('browsers of other origins', () => {
  const preflight = (path: string, method: string) =>
    request(app.server)
      .options(`/api/v1${path}`)
      .set('Origin', 'https://shop.example')
      .set('Access-Control-Request-Method', method)
      .set('Access-Control-Request-Headers', 'authorization, content-type');

  test('browsers of other origins may use operations for public keys, and read their headers', async () => {
    const response = await preflight('/payment-tokens', 'POST');
    expect(response.status).toBe(204);
    expect(response.headers['access-control-allow-origin']).toBe('*');
    expect(response.headers['access-control-allow-headers']).toMatch(/Authorization/);
    const pk = await app.createKey({ kind: 'public' });
    const answer = await request(app.server)
      .post('/api/v1/payment-tokens')
      .set('Origin', 'https://shop.example')
      .set('Authorization', `Bearer ${pk.key}`);
    expect(answer.status).toBe(201);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-expose-headers']).toMatch(/X-Request-Id/);
    const refused = await request(app.server)
      .post('/api/v1/payment-tokens')
      .set('Origin', 'https://shop.example');
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, '*']);
  });

  test('browsers of other origins may use no other operation', async () => {
    for (const [path, method] of [
      ['/things', 'GET'],
      ['/things', 'POST'],
      ['/payment-tokens', 'GET'],
    ] as const) {
      const response = await preflight(path, method);
      expect([path, method, response.headers['access-control-allow-origin']]).toEqual([
        path,
        method,
        undefined,
      ]);
    }
    expect((await get('/things').set('Origin', 'https://x.example')).headers).not.toHaveProperty(
      'access-control-allow-origin',
    );
  });
});
