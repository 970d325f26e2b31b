import { request as rawRequest, type IncomingHttpHeaders } from 'node:http';
import * as fc from 'fast-check';
import request from 'supertest';
import { createServer, type HttpServer } from '../../../src/platform/http/server.js';
import { createTestApp } from './test-app.js';

type TestApp = Awaited<ReturnType<typeof createTestApp>>;
type Body = Buffer | string;
let app: TestApp;
let server: HttpServer;
let port: number;
let key: string;

beforeAll(async () => {
  app = await createTestApp();
  server = createServer({ app: app.app, health: app.health, log: app.log });
  ({ port } = await server.listen({ host: '127.0.0.1', port: 0 }));
  ({ key } = await app.createKey({}, { plan: 'enterprise', ratePerMinute: 1_000_000 }));
});
afterAll(async () => {
  await server.drain();
  await app.close();
});
// No refused request in this file may have an effect.
afterEach(() => {
  if (app.effects.length > 0) throw new Error('a refused body reached the handler');
});

type Answer = { status: number; headers: IncomingHttpHeaders; error: Record<string, unknown> };

/** Sends the bytes exactly as given: a client library would correct them. */
function post(body: Body, headers: Record<string, string> = {}, path = '/things'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = rawRequest({
      port,
      method: 'POST',
      path: `/api/v1${path}`,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    });
    req.on('error', reject);
    req.on('response', (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const envelope = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        expect(envelope.success).toBe(false);
        expect(envelope.error.status).toBe(res.statusCode);
        resolve({ status: res.statusCode ?? 0, headers: res.headers, error: envelope.error });
      });
    });
    req.end(body);
  });
}
const send = (value: unknown) => post(JSON.stringify(value));
const fields = (answer: Answer) =>
  (answer.error['details'] as { issues: { field: string }[] }).issues.map((issue) => issue.field);

const VALID = { amount_minor: 100, account: '0123456789' };
const nested = (depth: number) => '{"metadata":'.repeat(depth) + '1' + '}'.repeat(depth);

describe('bodies that are not JSON objects', () => {
  test.each<[string, Body]>([
    ['malformed JSON', '{"amount_minor": 1,}'],
    ['half a document', '{"amount_minor": 1'],
    ['two documents', '{}{}'],
    ['an array', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['a number', '1'],
    ['only spaces', '   '],
    ['a NUL byte', Buffer.from([0])],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{"amount_minor":1}', 'utf16le')],
    ['NaN', '{"amount_minor": NaN}'],
    ['a hexadecimal number', '{"amount_minor": 0x10}'],
    ['a leading zero', '{"amount_minor": 010}'],
  ])('a body that is not a JSON object is refused: %s', async (_name, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({ code: 'validation_error', field: 'body' });
  });
});

describe('names and texts that no object may contain', () => {
  test.each([
    ['a prototype', '{"__proto__": {"admin": true}}', '__proto__'],
    ['a nested prototype', '{"metadata": {"a": {"__proto__": 1}}}', 'metadata.a.__proto__'],
    ['an operator', '{"amount_minor": {"$gt": 0}}', 'amount_minor.$gt'],
    ['an operator in a list', '{"metadata": {"a": [1, {"$where": "1"}]}}', 'metadata.a.1.$where'],
    ['a NUL in a name', '{"metadata": {"a\\u0000b": 1}}', 'metadata.a\0b'],
    ['half a character', '{"metadata": {"a": "\\ud800"}}', 'metadata.a'],
    ['half a character in a name', '{"metadata": {"\\ud800": 1}}', 'metadata.\ufffd'],
    ['a name twice', '{"amount_minor": 1, "account": "x", "amount_minor": 250000}', 'amount_minor'],
    ['a name twice, spelled otherwise', '{"a": 1, "\\u0061": 2}', 'a'],
    ['a name twice with one value', '{"metadata": {"a": {"b": "{", "b": "{"}}}', 'metadata.a.b'],
    [
      'a name twice in a list',
      '{"metadata": {"a": [{"b": 1}, {"b": ":", "b": 1}]}}',
      'metadata.a.1.b',
    ],
    ['17 levels', nested(17), Array.from({ length: 16 }, () => 'metadata').join('.')],
  ])('a forbidden name or text is refused by its path: %s', async (_name, body, field) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({ code: 'validation_error', field });
    expect(fields(answer)).toEqual([field]);
  });

  test.each([
    '{"a": {"4111111111111111": 1, "4111111111111111": 2}, "a": 1}',
    '{"a": {"4111111111111111": {"x": 1, "x": 2}}, "a": 1}',
  ])('the path of a repeated name holds no card number: %s', async (body) => {
    const answer = await post(body);
    expect([answer.status, answer.error['field']]).toEqual([400, 'a']);
    expect(JSON.stringify(answer.error)).not.toContain('4111');
  });

  test('a body with 100,000 levels is 400 and names the path', async () => {
    for (const body of [
      '['.repeat(100_000),
      `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ]) {
      const answer = await post(body);
      expect([answer.status, answer.error['code']]).toEqual([400, 'validation_error']);
      expect(String(answer.error['field']).length).toBeLessThanOrEqual(200);
    }
  });
});

describe('values that the schema does not allow', () => {
  test.each<[string, unknown, string]>([
    ['a missing field', { amount_minor: 100 }, 'account'],
    ['an empty body', {}, 'amount_minor'],
    ['a float', { ...VALID, amount_minor: 1.5 }, 'amount_minor'],
    ['a negative amount', { ...VALID, amount_minor: -5 }, 'amount_minor'],
    ['zero', { ...VALID, amount_minor: 0 }, 'amount_minor'],
    ['beyond 2^53', { ...VALID, amount_minor: 2 ** 53 }, 'amount_minor'],
    ['a number as text', { ...VALID, amount_minor: '100' }, 'amount_minor'],
    ['null', { ...VALID, amount_minor: null }, 'amount_minor'],
    ['9 digits', { ...VALID, account: '012345678' }, 'account'],
    ['11 digits', { ...VALID, account: '01234567890' }, 'account'],
    ['other digits', { ...VALID, account: '٠١٢٣٤٥٦٧٨٩' }, 'account'],
    ['a line end', { ...VALID, account: '0123456789\n' }, 'account'],
    ['an account as number', { ...VALID, account: 1_234_567_890 }, 'account'],
    ['an unknown field', { ...VALID, admin: true }, 'admin'],
  ])('an invalid value is refused by its field: %s', async (_name, value, field) => {
    const answer = await send(value);
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({ code: 'validation_error', field });
  });

  test('numbers that JavaScript cannot hold exactly are 400', async () => {
    for (const amount of ['1e400', '9007199254740993', '123456789012345678901234567890']) {
      const answer = await post(`{"amount_minor": ${amount}, "account": "0123456789"}`);
      expect([answer.status, answer.error['field']]).toEqual([400, 'amount_minor']);
    }
  });

  test('all invalid fields are listed in order, and no value is quoted', async () => {
    const answer = await send({ amount_minor: 'secret 4111 1111', zzz: 1, yyy: 2 });
    expect(fields(answer)).toEqual(['amount_minor', 'account', 'zzz', 'yyy']);
    expect(JSON.stringify(answer.error)).not.toContain('4111');
    expect(answer.error['message']).toContain('The request is not valid');
  });

  test('the answer to a body with very many errors is bounded', async () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, 1]));
    const answer = await send(many);
    expect(fields(answer)).toHaveLength(100);
  });

  test('a body on an operation without one is refused', async () => {
    const answer = await post('{"force": true}', {}, '/things/1/lock');
    expect([answer.status, answer.error['field']]).toEqual([400, 'force']);
  });
});

describe('415', () => {
  test.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/jsonx'],
    ['application/json; charset=iso-8859-1'],
    [''],
  ])('Content-Type %p is 415', async (type) => {
    const answer = await post(JSON.stringify(VALID), { 'content-type': type });
    expect([answer.status, answer.error['code']]).toEqual([415, 'unsupported_media_type']);
  });

  test('a compressed body is 415', async () => {
    const answer = await post(Buffer.from([0x1f, 0x8b]), { 'content-encoding': 'gzip' });
    expect([answer.status, answer.error['code']]).toEqual([415, 'unsupported_media_type']);
  });
});

describe('413 reaches the client', () => {
  const megabyte = JSON.stringify({ ...VALID, metadata: { text: 'x'.repeat(1024 * 1024) } });

  test('a 413 reaches a client that announced the length', async () => {
    const length = String(Buffer.byteLength(megabyte));
    const answer = await post(megabyte, { 'content-length': length });
    expect([answer.status, answer.error['code']]).toEqual([413, 'payload_too_large']);
    expect(answer.headers['x-ratelimit-limit']).toBeDefined();
    expect(answer.headers['x-request-id']).toBeDefined();
  });

  test('a 413 reaches a client that sends chunks of unknown length', async () => {
    const answer = await post(megabyte, { 'transfer-encoding': 'chunked' });
    expect([answer.status, answer.error['code']]).toEqual([413, 'payload_too_large']);
  });

  test('a 413 reaches a client that sends 20 MB before it reads the answer', async () => {
    const answer = await post(Buffer.alloc(20 * 1024 * 1024, 'x'), {
      'transfer-encoding': 'chunked',
    });
    expect(answer.status).toBe(413);
  });

  test('after a 413 the connection serves further requests', async () => {
    const agent = request.agent(`http://127.0.0.1:${port}`);
    const call = (body: string) =>
      agent
        .post('/api/v1/things')
        .set({ Authorization: `Bearer ${key}`, Connection: 'keep-alive' })
        .type('json')
        .send(body);
    expect((await call(megabyte)).status).toBe(413);
    expect((await call('{}')).status).toBe(400);
  });

  test('a body of the maximum size is accepted, and one byte more is 413', async () => {
    const withText = (length: number) => JSON.stringify({ text: 'x'.repeat(length) });
    const room = 256 * 1024 - withText(0).length;
    expect((await post(withText(room))).status).toBe(400);
    expect((await post(withText(room + 1))).status).toBe(413);
  });
});

describe('queries', () => {
  const get = (path: string) =>
    request(`http://127.0.0.1:${port}`).get(`/api/v1${path}`).set('Authorization', `Bearer ${key}`);

  test.each([
    ['?limit=101', 'limit'],
    ['?limit=0', 'limit'],
    ['?page=x', 'page'],
    ['?page=1.5', 'page'],
    ['?page=1&page=2', 'page'],
    ['?cursor=abc', 'cursor'],
    ['?__proto__=1', '__proto__'],
    ['?limit[$gt]=1', 'limit[$gt]'],
  ])('the query %s is 400 and names the parameter', async (query, field) => {
    const answer = await get(`/things${query}`);
    expect([answer.status, answer.body.error.code, answer.body.error.field]).toEqual([
      400,
      'validation_error',
      field,
    ]);
  });

  test('a path that cannot be decoded is not a server error', async () => {
    for (const path of ['/things/%E0%A4%A', '/things/%00', '/things/%ff']) {
      expect((await get(path)).status).toBeLessThan(500);
    }
  });
});

test('no body causes a server error, whatever its bytes', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 64 }).map((array) => Buffer.from(array)),
    fc.json().map((text) => Buffer.from(text)),
    fc.string().map((text) => Buffer.from(`{"metadata": ${text}}`)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (body) => {
      const answer = await post(Buffer.concat([body, Buffer.from(' ')]));
      expect(answer.status).toBe(400);
    }),
    { numRuns: 200 },
  );
});
