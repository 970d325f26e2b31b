import request from 'supertest';
import { generateKey } from '../../../src/platform/api-keys/api-key.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { createTestApp } from './test-app.js';

type TestApp = Awaited<ReturnType<typeof createTestApp>>;
let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ trustedProxies: 1 });
});
afterAll(() => app.close());

type Caller = { token: string; id?: string; tenantId?: string };

const madeUp = async (): Promise<Caller> => ({ token: generateKey('secret', 'sandbox') });
const withKey = async (...given: Parameters<TestApp['createKey']>): Promise<Caller> => {
  const { key, id, tenantId } = await app.createKey(...given);
  return { token: key, id, tenantId };
};

/** Each code with a caller that gets it, and with its request. */
const REFUSALS: [ErrorCode, () => Promise<Caller>, 'get' | 'post', string][] = [
  ['unauthorized', madeUp, 'get', '/things'],
  ['invalid_key', async () => ({ token: 'sk_sandbox_guess' }), 'get', '/things'],
  ['wrong_environment', async () => ({ token: generateKey('secret', 'live') }), 'get', '/things'],
  ['expired_key', () => withKey({ expiresAt: new Date(Date.now() - 1) }), 'get', '/things'],
  ['ip_not_allowed', () => withKey({ allowedIps: ['203.0.113.0/24'] }), 'get', '/things'],
  ['forbidden', () => withKey({ level: 'read' }), 'post', '/things'],
  ['feature_not_enabled', () => withKey(), 'get', '/billpay/payments'],
  ['not_found', () => withKey(), 'get', '/nowhere'],
  ['insufficient_balance', () => withKey(), 'get', '/unfortunate'],
  ['invalid_signature', madeUp, 'post', '/webhooks/cards/issuer'],
];

/** The counters of errors by code. */
async function counted(): Promise<Map<string, number>> {
  const lines = (await app.registry.metrics()).matchAll(
    /^bursar_http_errors_total\{code="(\w+)"\} (\d+)$/gm,
  );
  return new Map([...lines].map(([, code = '', count]) => [code, Number(count)]));
}

test.each(REFUSALS)(
  '%s: log line and counter name the code, the line has address, key and tenant if the key exists, and no secret',
  async (code, caller, method, path) => {
    const { token, id, tenantId } = await caller();
    const before = (await counted()).get(code) ?? 0;
    app.lines.length = 0;
    const agent = request(app.server);
    const answer = await agent[method](`/api/v1${path}`)
      .set('Authorization', `Bearer ${token}`)
      .set('X-Forwarded-For', '198.51.100.7');
    expect(answer.body.error.code).toBe(code);
    const lines = app.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const line = lines.find(({ msg }) => msg === 'request');
    expect(line).toMatchObject({ status: answer.status, code, address: '198.51.100.7' });
    expect([line?.['key_id'], line?.['tenant']]).toEqual([id, tenantId]);
    expect(app.lines.join('')).not.toContain(token);
    expect((await counted()).get(code)).toBe(before + 1);
  },
);

test('an answer without an error is logged without the address of the client', async () => {
  const { token } = await withKey();
  app.lines.length = 0;
  await request(app.server)
    .get('/api/v1/things')
    .set('Authorization', `Bearer ${token}`)
    .set('X-Forwarded-For', '198.51.100.8')
    .expect(200);
  expect(app.lines.join('')).not.toContain('198.51.100.8');
});
