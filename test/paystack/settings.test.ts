import { randomBytes } from 'node:crypto';
import { createProviders } from '../../src/composition/providers.js';
import { loadConfig } from '../../src/shared/config.js';

const base = {
  MONGODB_URI: 'mongodb://127.0.0.1',
  BURSAR_KEY_PEPPER: randomBytes(32).toString('base64'),
  BURSAR_SEALING_KEYS: `one:${randomBytes(32).toString('base64')}`,
  SANDBOX_BANK_SECRET: 'x'.repeat(16),
};
const TEST = 'sk_test_inventedkey0000';
const LIVE = 'sk_live_inventedkey0000';
const load = (env: Record<string, string>) => loadConfig({ ...base, ...env });
const live = { BURSAR_ENV: 'live' };
const rehearsal = { ...live, BURSAR_LIVE_REHEARSAL: 'true' };

describe('the settings of Paystack', () => {
  test('with a key, Paystack serves transfers and payments', () => {
    const { providers, paystack } = load({ PAYSTACK_SECRET_KEY: TEST });
    expect(providers).toMatchObject({
      transfers: 'paystack',
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

  test('with a domain for customers too, Paystack serves virtual accounts and identity', () => {
    const domain = { PAYSTACK_CUSTOMER_DOMAIN: 'accounts.example.com' };
    const byPaystack = load({ PAYSTACK_SECRET_KEY: TEST, ...domain });
    expect(byPaystack.providers).toMatchObject({
      virtual_accounts: 'paystack',
      identity: 'paystack',
    });
    expect(load({ PAYSTACK_SECRET_KEY: TEST }).providers).toMatchObject({
      virtual_accounts: 'sandbox-bank',
      identity: 'sandbox-bank',
    });
    expect(load({ ...live, PAYSTACK_SECRET_KEY: LIVE }).providers.virtual_accounts).toBeNull();
    const named = { PAYSTACK_SECRET_KEY: TEST, BURSAR_PROVIDER_VIRTUAL_ACCOUNTS: 'paystack' };
    expect(() => load(named)).toThrow(/PAYSTACK_CUSTOMER_DOMAIN/);
    for (const wrong of ['localhost', 'Accounts.example.com', 'a@example.com', '-.example.com']) {
      expect(() => load({ PAYSTACK_SECRET_KEY: TEST, PAYSTACK_CUSTOMER_DOMAIN: wrong })).toThrow(
        /PAYSTACK_CUSTOMER_DOMAIN/,
      );
    }
  });

  test('a configuration with both has Paystack’s adapters, and one without the domain has not', () => {
    const env = { PAYSTACK_SECRET_KEY: TEST, PAYSTACK_CUSTOMER_DOMAIN: 'accounts.example.com' };
    const providers = createProviders(load(env));
    expect(providers.forVirtualAccounts().name).toBe('paystack');
    expect(providers.forIdentity().identity.checks).toEqual(['bank_account']);
    for (const port of ['transfers', 'payments', 'accounts', 'identity'] as const) {
      expect(providers.messageReader(port, 'paystack')).toBeDefined();
    }
    const without = createProviders(load({ PAYSTACK_SECRET_KEY: TEST }));
    expect(without.forVirtualAccounts().name).toBe('sandbox-bank');
    expect(without.messageReader('accounts', 'paystack')).toBeUndefined();
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
    ['any other text', { PAYSTACK_SECRET_KEY: 'secret' }],
  ])('%s stops the start, and the message does not hold the key', (_what, env) => {
    expect(() => load(env)).toThrow(/PAYSTACK_SECRET_KEY/);
    expect(() => load(env)).not.toThrow(/inventedkey0000/);
  });

  test('an empty key is no key, as every empty setting', () => {
    expect(load({ PAYSTACK_SECRET_KEY: '' }).paystack).toBeNull();
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

  test.each(['https://api.paystack.co', 'https://paystack.test'])(
    'a rehearsal of live, which may have the sandbox bank, does not start with a real Paystack: %s',
    (url) => {
      const env = { ...rehearsal, PAYSTACK_SECRET_KEY: LIVE, PAYSTACK_BASE_URL: url };
      expect(() => load(env)).toThrow(/PAYSTACK_BASE_URL.*BURSAR_LIVE_REHEARSAL/);
    },
  );

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
