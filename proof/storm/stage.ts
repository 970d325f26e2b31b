import { privateMongod, privateTemporal } from '../../test/support/engines.js';
import { startReceiver } from '../../test/support/receiver.js';
import { startService } from '../../test/support/service.js';
import type { TestTenant } from '../../test/support/tenant.js';
import type { Random } from './random.js';

/** The bank refuses orders older than this: nobody may be frozen for longer, or an old order could still be paid. */
export const FINAL_AFTER_MS = 5_000;
const TENANTS = 12;
const RICH_MINOR = 1_000_000_000;
const HOT_LOAD = 0.3;
/** The wallet that a third of the load falls on, and which runs dry. */
const HOT_MINOR = 20_000_000;

export type Engine = { name: string; pid(): number; again(): Promise<void> };
/** A tenant, and where it is told of events: the path there, and the secret that signs them. */
export type StormTenant = { tenant: TestTenant; hook: string; secret: string };
export type StormStage = Awaited<ReturnType<typeof openStage>>;

/** Two APIs, two workers, engines of their own, a bank that pays a repeated order twice, and who is told. */
export async function openStage() {
  const [mongod, temporal] = await Promise.all([privateMongod(), privateTemporal()]);
  const receiver = await startReceiver();
  const service = await startService({
    apis: 2,
    workers: 2,
    bank: { deduplicate: false, finalAfterMs: FINAL_AFTER_MS },
    mongodbUri: mongod.uri,
    temporalAddress: temporal.address,
    env: {
      BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
      BURSAR_WEBHOOK_RETRY_SECONDS: Array.from({ length: 20 }, () => '2').join(','),
      // Requests of the storm come from one address, and keys of a killed store may be unknown for a moment.
      BURSAR_UNAUTHENTICATED_PER_MINUTE: '100000',
    },
  });
  const tenants: StormTenant[] = [];
  for (let i = 0; i < TENANTS; i += 1) {
    const tenant = await service.tenant({ balanceMinor: i === 0 ? HOT_MINOR : RICH_MINOR });
    const url = `${receiver.url}/${tenant.id}`;
    const endpoint = await service.deps.webhooks.endpoints.add(tenant.id, url);
    if (!endpoint) throw new Error('the endpoint was not added');
    tenants.push({ tenant, hook: new URL(url).pathname, secret: endpoint.secret });
  }
  const engine = (name: string, of: typeof mongod | typeof temporal): Engine => {
    let { pid } = of;
    return { name, pid: () => pid, again: async () => void ({ pid } = await of.again()) };
  };
  return {
    service,
    receiver,
    tenants,
    /** Whose turn it is: a third of the load is on one wallet. */
    anyTenant: (random: Random) =>
      (random.chance(HOT_LOAD) ? tenants[0] : random.pick(tenants)) as StormTenant,
    engines: [engine('mongod', mongod), engine('temporal', temporal)],
    async close(): Promise<void> {
      await service.close();
      await receiver.close();
      await Promise.all([mongod.remove(), temporal.remove()]);
    },
  };
}
