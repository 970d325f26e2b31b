import request from 'supertest';
import { createTestApp } from './test-app.js';

type TestApp = Awaited<ReturnType<typeof createTestApp>>;
let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await createTestApp();
  ({ key } = await app.createKey());
});
afterAll(() => app.close());
const post = (path: string) =>
  request(app.server).post(`/api/v1${path}`).set('Authorization', `Bearer ${key}`);
const VALID = { amount_minor: 100, account: '0123456789' };

test('a valid body is answered in the success envelope, as JSON in UTF-8', async () => {
  const answer = await post('/things').send({
    ...VALID,
    metadata: { note: 'Ọlá ₦', deep: [{ a: 1 }] },
  });
  expect(answer.status).toBe(201);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.body).toEqual({
    success: true,
    data: { ...VALID, metadata: { note: 'Ọlá ₦', deep: [{ a: 1 }] } },
  });
});

test.each([
  'application/json',
  'application/json;charset=UTF-8',
  'Application/JSON; charset="utf-8"',
])('Content-Type %p is JSON', async (type) => {
  const answer = await post('/things').set('Content-Type', type).send(JSON.stringify(VALID));
  expect(answer.status).toBe(201);
});

test('a POST without a body needs no Content-Type', async () => {
  expect((await post('/things/1/lock')).status).toBe(201);
  expect((await post('/things/1/lock').set('Content-Length', '0')).status).toBe(201);
});

test('field names that only look dangerous are accepted as data', async () => {
  const metadata = { constructor: 'Red Bull', prototype: true, 'a.b': 1, '': 2, has$: 3 };
  const answer = await post('/things').send({ ...VALID, metadata });
  expect(answer.body.data.metadata).toEqual(metadata);
});

test('lists have the pagination object', async () => {
  const list = (query: string) =>
    request(app.server).get(`/api/v1/things${query}`).set('Authorization', `Bearer ${key}`);
  expect((await list('')).body).toEqual({
    success: true,
    data: [{ id: 1 }],
    pagination: { page: 1, limit: 20, total: 41, pages: 3, has_more: true },
  });
  const last = await list('?page=3&limit=20');
  expect(last.body.pagination).toEqual({
    page: 3,
    limit: 20,
    total: 41,
    pages: 3,
    has_more: false,
  });
});

test('a provider route gets the exact bytes of the body', async () => {
  const bytes = '{ "a" : 1,\n"a":2 } ';
  const answer = await request(app.server)
    .post('/api/v1/webhooks/payments/bank')
    .set('Content-Type', 'application/octet-stream')
    .send(bytes);
  expect(answer.status).toBe(200);
  expect(app.effects.at(-1)).toBe(bytes);
});
