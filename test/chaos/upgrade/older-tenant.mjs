// Creates a tenant with a funded wallet and a key by the build in BURSAR_OLDER_DIST, which migrates the database first.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (...parts) =>
  import(pathToFileURL(join(process.env.BURSAR_OLDER_DIST, 'src', ...parts)).href);

const { loadConfig } = await load('shared', 'config.js');
const { createDeps } = await load('composition', 'deps.js');
const { creditWallet } = await load('capabilities', 'wallets', 'create.js');

const deps = await createDeps(loadConfig(), 'test');
const tenant = await deps.tenants.create({
  name: 'A tenant of the older release',
  plan: 'enterprise',
  ratePerMinute: 1_000_000,
  dailyLimitMinor: 9_000_000_000_000n,
  features: {},
});
const { key } = await deps.apiKeys.create({ tenantId: tenant.id, level: 'admin', kind: 'secret' });
const amountMinor = 1_000_000_000n;
await creditWallet(deps.groupCommit, { tenantId: tenant.id, amountMinor, reference: 'start' });
await deps.close();
console.log(JSON.stringify({ id: tenant.id, key }));
