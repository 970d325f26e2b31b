/** Prints the tenant, its keys and the operators of the demo as JSON. `npm start` runs it, with the keys of an earlier start in BURSAR_DEMO. */
import { randomUUID } from 'node:crypto';
import { createDeps, type Deps } from '../composition/deps.js';
import type { OperatorRole } from '../platform/operators/operator.js';
import { loadConfig, type Config } from '../shared/config.js';
import { createAtSetUp } from './first-operators.js';

const DEMO_BALANCE_MINOR = 1_000_000_000n;

type OperatorKeys = { operator: string; approver: string };
type Saved = { secret?: string; public?: string; tenant?: string; operators?: OperatorKeys };
type Demo = { tenant: string; keys: { secret: string; public: string } };

/** The two people of `npm start`. The first one also manages operators; only the second one approves. */
const PEOPLE: Record<keyof OperatorKeys, { name: string; roles: OperatorRole[] }> = {
  operator: { name: 'Olu Operator', roles: ['operator', 'admin'] },
  approver: { name: 'Ada Approver', roles: ['approver'] },
};

/**
 * Creates the demo tenant of `npm start`: Sandbox plan, ₦10,000,000, an admin key and a public key. The keys of an
 * earlier start are used again as long as the database knows their tenant.
 */
async function ensureTenant({ tenants, apiKeys, wallets }: Deps, saved: Saved): Promise<Demo> {
  if (saved.tenant && saved.secret && saved.public && (await tenants.get(saved.tenant))) {
    return { tenant: saved.tenant, keys: { secret: saved.secret, public: saved.public } };
  }
  const tenant = await tenants.create({ name: 'Demo', plan: 'sandbox' });
  const reference = `demo-${randomUUID()}`;
  await wallets.credit({ tenantId: tenant.id, amountMinor: DEMO_BALANCE_MINOR, reference });
  const own = { tenantId: tenant.id, label: 'demo' };
  const secret = await apiKeys.create({ ...own, level: 'admin', kind: 'secret' });
  const open = await apiKeys.create({ ...own, level: 'write', kind: 'public' });
  return { tenant: tenant.id, keys: { secret: secret.key, public: open.key } };
}

/** Creates the two operators, or uses their keys of an earlier start again as long as they are accepted. */
async function ensureOperators(deps: Deps, saved: Saved): Promise<OperatorKeys> {
  const kept = saved.operators;
  const accepted =
    kept && (await Promise.all(Object.values(kept).map((key) => accepts(deps, key))));
  if (kept && accepted?.every(Boolean)) return kept;
  const create = async (person: keyof OperatorKeys) => {
    const email = `${person}-${randomUUID().slice(0, 8)}@demo.invalid`;
    const made = await createAtSetUp(deps, { ...PEOPLE[person], email }, async () => false);
    if (!made) throw new Error(`the ${person} was not created`);
    return made.key;
  };
  return { operator: await create('operator'), approver: await create('approver') };
}

const accepts = ({ operators }: Deps, key: string) =>
  operators.authenticate(key).then(
    () => true,
    () => false,
  );

async function ensureDemo(config: Config, saved: Saved) {
  const deps = await createDeps(config, 'demo');
  try {
    return { ...(await ensureTenant(deps, saved)), operators: await ensureOperators(deps, saved) };
  } finally {
    await deps.close();
  }
}

const saved = JSON.parse(process.env['BURSAR_DEMO'] ?? '{}') as Saved;
const demo = await ensureDemo(loadConfig(process.env), saved);
process.stdout.write(JSON.stringify(demo));
