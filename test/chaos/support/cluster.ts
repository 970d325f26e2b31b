import { privateMongod, privateTemporal } from '../../support/engines.js';
import { startLoad, type Load } from './load.js';
import { startService, type ServiceOptions } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';

/** True on a shared machine: guaranteed times are printed and not asserted. */
export const IS_PATIENT = process.env['CHAOS_PATIENT'] !== undefined;

/** A rate; on a shared machine a quarter of it, as the service would reject the rest as overload. */
export const paced = (perSecond: number): number => (IS_PATIENT ? perSecond / 4 : perSecond);

/** The default times of a deployment; tests use shorter ones. */
const TIMES_OF_PRODUCTION = {
  SANDBOX_BANK_TIMEOUT_MS: '5000',
  BURSAR_POLL_MAX_MS: '600000',
  BURSAR_STALL_TIMEOUT_MS: '30000',
};

type Engine = { uri: string; remove(): Promise<void> };
type PrivateMongod = Awaited<ReturnType<typeof privateMongod>>;

export type Cluster<Mongod extends Engine = PrivateMongod> = Awaited<
  ReturnType<typeof openCluster<Mongod>>
>;

/** Starts two APIs, two workers, separate engines, and a bank that pays a repeated request twice. */
export async function openCluster<Mongod extends Engine = PrivateMongod>(
  options: ServiceOptions = {},
  startMongod: () => Promise<Mongod> = privateMongod as never,
) {
  const [mongod, temporal] = await Promise.all([startMongod(), privateTemporal()]);
  const removeEngines = () => Promise.all([mongod.remove(), temporal.remove()]);
  try {
    const service = await startService({
      apis: 2,
      workers: 2,
      mongodbUri: mongod.uri,
      temporalAddress: temporal.address,
      ...options,
      // Requests of a backlog may take longer than the default on a slow machine, and would be refused as too old.
      bank: { deduplicate: false, conclusiveAfterMs: 6_000, ...options.bank },
      env: { ...TIMES_OF_PRODUCTION, ...options.env },
    });
    const loads: Load[] = [];
    return {
      service,
      mongod,
      temporal,
      tenants: (count: number) => createTenants(service, count),
      /** Starts a load at both APIs. It ends with the cluster at the latest. */
      load(
        tenants: TestTenant[],
        perSecond: number,
        options: { suffixes?: string[]; urls?: string[] } = {},
      ): Load {
        const urls = service.apis.map(({ url }) => url);
        const load = startLoad({ tenants, urls, perSecond, ...options });
        loads.push(load);
        return load;
      },
      async close(): Promise<void> {
        for (const load of loads) load.end();
        await service.close();
        await removeEngines();
      },
    };
  } catch (error) {
    await removeEngines();
    throw error;
  }
}

/** Creates tenants. The first gets as much of a load as all the others together. */
export async function createTenants(
  service: Awaited<ReturnType<typeof startService>>,
  count: number,
): Promise<TestTenant[]> {
  const [hot, ...others] = await Promise.all(
    Array.from({ length: count }, () => service.tenant({ balanceMinor: 2_000_000_000 })),
  );
  return others.flatMap((other) => [hot as TestTenant, other]);
}
