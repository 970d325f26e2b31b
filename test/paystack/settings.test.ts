import { randomBytes } from 'node:crypto';
import { loadConfig } from '../../src/shared/config.js';

const base = {
  MONGODB_URI: 'mongodb://x',
  BURSAR_KEY_PEPPER: 'x'.repeat(32),
  BURSAR_SEALING_KEYS: `one:${randomBytes(32).toString('base64')}`,
  SANDBOX_BANK_SECRET: 'x'.repeat(16),
};
const TEST = 'sk_test_inventedkey0000';
const LIVE = 'sk_live_inventedkey0000';
const load = (env: Record<string, string>) => loadConfig({ ...base, ...env });
const live = { BURSAR_ENV: 'live' };
const rehearsal = { ...live, BURSAR_LIVE_REHEARSAL: 'true' };

describe('the settings of Paystack', () => {
  test('with a key, Paystack serves payments', () => {
    const { providers, paystack } = load({ PAYSTACK_SECRET_KEY: TEST });
    expect(providers).toMatchObject({
      payments: 'paystack',
      cards: 'sandbox-bank',
    });
    expect(paystack).toMatchObject({
      keys: [TEST],
      domain: 'test',
      url: 'https://api.paystack.co',
      isOfficial: true,
      timeoutMs: 10_000,
    });
  });

  test('without a key it serves nothing, and a capability that names it stops the start', () => {
    expect(load({}).paystack).toBeNull();
    expect(() => load({ BURSAR_PROVIDER_TRANSFERS: 'paystack' })).toThrow(/PAYSTACK_SECRET_KEY/);
  });

  test('live starts with a live key and without the sandbox bank', () => {
    const config = load({ ...live, PAYSTACK_SECRET_KEY: LIVE });
    expect(config.providers).toMatchObject({
      payments: 'paystack',
      cards: null,
    });
    expect(config.paystack?.domain).toBe('live');
    expect(config.sandboxBank).toBeNull();
  });

  test('the first key signs, and several may verify', () => {
    const keys = `${TEST}, sk_test_earlierkey00000`;
    expect(load({ PAYSTACK_SECRET_KEY: keys }).paystack?.keys).toEqual([
      TEST,
      'sk_test_earlierkey00000',
    ]);
  });

  test.each([
    ['a live key in the sandbox', { PAYSTACK_SECRET_KEY: LIVE }],
    ['a test key in live', { ...live, PAYSTACK_SECRET_KEY: TEST }],
    ['a test key in a rehearsal of live', { ...rehearsal, PAYSTACK_SECRET_KEY: TEST }],
    ['keys of both kinds', { PAYSTACK_SECRET_KEY: `${TEST},${LIVE}` }],
    ['a public key', { PAYSTACK_SECRET_KEY: 'pk_test_inventedkey0000' }],
    ['an empty key', { PAYSTACK_SECRET_KEY: '' }],
    ['any other text', { PAYSTACK_SECRET_KEY: 'secret' }],
  ])('%s stops the start, and the message does not hold the key', (_what, env) => {
    expect(() => load(env)).toThrow(/PAYSTACK_SECRET_KEY/);
    expect(() => load(env)).not.toThrow(/inventedkey0000/);
  });

  test.each([
    ['http elsewhere in the sandbox', { PAYSTACK_SECRET_KEY: TEST }, 'http://paystack.test'],
    [
      'http elsewhere in a rehearsal',
      { ...rehearsal, PAYSTACK_SECRET_KEY: LIVE },
      'http://10.0.0.1',
    ],
    [
      'http on this machine in live',
      { ...live, PAYSTACK_SECRET_KEY: LIVE },
      'http://127.0.0.1:8095',
    ],
    ['another protocol', { PAYSTACK_SECRET_KEY: TEST }, 'ftp://127.0.0.1'],
  ])('a plain connection stops the start: %s', (_what, env, url) => {
    expect(() => load({ ...env, PAYSTACK_BASE_URL: url })).toThrow(/PAYSTACK_BASE_URL/);
  });

  test.each([[{ PAYSTACK_SECRET_KEY: TEST }], [{ ...rehearsal, PAYSTACK_SECRET_KEY: LIVE }]])(
    'http on this machine is for the sandbox and for a rehearsal',
    (env) => {
      const url = 'http://127.0.0.1:8095';
      expect(load({ ...env, PAYSTACK_BASE_URL: url }).paystack).toMatchObject({
        url,
        isOfficial: false,
      });
    },
  );
});
