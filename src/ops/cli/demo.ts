import { randomUUID } from 'node:crypto';
import type { Config } from '../../shared/config.js';
import { createDeps } from '../../composition/deps.js';

const DEMO_BALANCE_MINOR = 1_000_000_000n;

type Saved = { secret?: string; public?: string; tenant?: string };

/**
 * Creates the demo tenant of `npm start`: Sandbox plan, ₦10,000,000, an admin key and a public key. The keys of an
 * earlier start are used again as long as the database knows their tenant.
 */
export async function ensureDemo(
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
