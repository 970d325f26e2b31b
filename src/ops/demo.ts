/** Prints the tenant and the keys of the demo as JSON. `npm start` runs it, with the keys of an earlier start in BURSAR_DEMO. */
import { randomUUID } from 'node:crypto';
import { createDeps } from '../composition/deps.js';
import { loadConfig, type Config } from '../shared/config.js';

const DEMO_BALANCE_MINOR = 1_000_000_000n;

type Saved = { secret?: string; public?: string; tenant?: string };

/**
 * Creates the demo tenant of `npm start`: Sandbox plan, ₦10,000,000, an admin key and a public key. The keys of an
 * earlier start are used again as long as the database knows their tenant.
 */
async function ensureDemo(
  config: Config,
  saved: Saved,
): Promise<{ tenant: string; keys: { secret: string; public: string } }> {
  const deps = await createDeps(config, 'demo');
  try {
    const { tenants, apiKeys, wallets } = deps;
    if (saved.tenant && saved.secret && saved.public && (await tenants.get(saved.tenant))) {
      return { tenant: saved.tenant, keys: { secret: saved.secret, public: saved.public } };
    }
    const tenant = await tenants.create({ name: 'Demo', plan: 'sandbox' });
    await wallets.credit({
      tenantId: tenant.id,
      amountMinor: DEMO_BALANCE_MINOR,
      reference: `demo-${randomUUID()}`,
    });
    const secret = await apiKeys.create({
      tenantId: tenant.id,
      level: 'admin',
      kind: 'secret',
      label: 'demo',
    });
    const open = await apiKeys.create({
      tenantId: tenant.id,
      level: 'write',
      kind: 'public',
      label: 'demo',
    });
    return { tenant: tenant.id, keys: { secret: secret.key, public: open.key } };
  } finally {
    await deps.close();
  }
}

const saved = JSON.parse(process.env['BURSAR_DEMO'] ?? '{}') as Saved;
const demo = await ensureDemo(loadConfig(process.env), saved);
process.stdout.write(JSON.stringify(demo));
