import { randomBytes } from 'node:crypto';
import { createProviders } from '../../src/composition/providers.js';
import { loadConfig } from '../../src/shared/config.js';
import { PROVIDER_CAPABILITIES, providerSetting } from '../../src/shared/provider-settings.js';

const base = {
  MONGODB_URI: 'mongodb://127.0.0.1',
  BURSAR_KEY_PEPPER: randomBytes(32).toString('base64'),
  BURSAR_SEALING_KEYS: `test:${randomBytes(32).toString('base64')}`,
};
const bank = { ...base, SANDBOX_BANK_SECRET: 'x'.repeat(16) };
const live = { BURSAR_ENV: 'live' };

const providersAt = (env: Record<string, string>) => loadConfig(env).providers;
const all = (name: string | null) =>
  Object.fromEntries(PROVIDER_CAPABILITIES.map((capability) => [capability, name]));

test('the sandbox bank serves every capability of the sandbox by default, and none of live', () => {
  expect(providersAt(bank)).toEqual(all('sandbox-bank'));
  expect(providersAt({ ...bank, ...live })).toEqual(all(null));
  expect(providersAt({ ...bank, ...live, BURSAR_LIVE_REHEARSAL: 'true' })).toEqual(
    all('sandbox-bank'),
  );
});

test.each(PROVIDER_CAPABILITIES)('%s can be turned off by its own setting', (capability) => {
  const providers = providersAt({ ...bank, [providerSetting(capability)]: 'none' });
  expect(providers).toEqual({ ...all('sandbox-bank'), [capability]: null });
});

test.each(PROVIDER_CAPABILITIES)('a refused start names the setting of %s', (capability) => {
  const setting = providerSetting(capability);
  const start = (env: Record<string, string>) => createProviders(loadConfig(env));
  expect(() => start({ ...bank, [setting]: 'no-such-bank' })).toThrow(setting);
  expect(() => start({ ...bank, ...live, [setting]: 'sandbox-bank' })).toThrow(setting);
});

test('a deployment without the sandbox bank needs no secret for it', () => {
  expect(() => loadConfig(base)).toThrow(/SANDBOX_BANK_SECRET/);
  const off = Object.fromEntries(
    PROVIDER_CAPABILITIES.map((each) => [providerSetting(each), 'none']),
  );
  expect(loadConfig({ ...base, ...off }).sandboxBank).toBeNull();
});

test('a record stays with its provider, also if new records have none', () => {
  const providers = createProviders(loadConfig({ ...bank, BURSAR_PROVIDER_TRANSFERS: 'none' }));
  expect(() => providers.forTransfers()).toThrow(/not enabled/);
  expect(providers.transfer('sandbox-bank').name).toBe('sandbox-bank');
});
