import { join } from 'node:path';
import { compiled } from '../../../src/shared/package-root.js';
import { privateMongod, privateTemporal } from '../../support/engines.js';
import { startReceiver } from '../../support/receiver.js';
import { startService } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';
import { openNetwork, type Link } from './network.js';
import type { Random } from './random.js';
import { engineTarget, processTarget, type Target } from './targets.js';

/** The bank rejects requests older than this. A longer freeze could let it pay an old request. */
const CONCLUSIVE_AFTER_MS = 5_000;
/** An idempotent bank executes a repeat again this long after the first request. */
const FORGETS_AFTER_MS = 30_000;
const TENANTS = 12;
const RICH_MINOR = 1_000_000_000;
/** Share of the load on one wallet, which runs out of money. */
const HOT_LOAD = 0.3;
const HOT_MINOR = 1_500_000;

/** A tenant with the path of its webhook endpoint and the secret that signs its webhooks. */
export type ChaosTenant = { tenant: TestTenant; hook: string; secret: string };
export type ChaosCluster = Awaited<ReturnType<typeof openCluster>>;

export type ClusterOptions = {
  /** Freezes last longer than the time after which "not found" is conclusive, and the bank pays a repeated request once. */
  longFreezes?: boolean;
  /** `new_reference`: the acquirer gives the address of a page once, so that a charge may have several pages. */
  pages?: 'repeatable' | 'new_reference';
  /** Folder of a build that runs instead of dist/. */
  dist?: string;
  /** Settings of the service. */
  env?: Record<string, string>;
};

/** Three APIs, two workers, separate engines, a bank that pays a repeated request twice, and a webhook receiver. */
export async function openCluster({
  longFreezes = false,
  pages = 'repeatable',
  dist,
  env = {},
}: ClusterOptions = {}) {
  const [mongod, temporal, network] = await Promise.all([
    privateMongod({ uncompressed: true }),
    privateTemporal(),
    openNetwork(),
  ]);
  const links: Link[] = [];
  /** Port by which the service's processes reach this port: that of a link, if there is a network. */
  async function through(name: string, port: number): Promise<number> {
    const link = await network?.link(name, port);
    if (link) links.push(link);
    return link?.port ?? port;
  }
  const mongodPort = Number(new URL(mongod.uri).port);
  const temporalPort = Number(temporal.address.split(':')[1]);
  const receiver = await startReceiver();
  const service = await startService({
    // All of them serve the hot wallet.
    apis: 3,
    metrics: true,
    workers: 2,
    bank: {
      deduplicate: longFreezes,
      ...(longFreezes && { deduplicateForMs: FORGETS_AFTER_MS }),
      conclusiveAfterMs: CONCLUSIVE_AFTER_MS,
      balanced: true,
      through: (port) => through('bank', port),
    },
    mongodbUri: mongod.uri.replace(`:${mongodPort}`, `:${await through('mongod', mongodPort)}`),
    temporalAddress: `127.0.0.1:${await through('temporal', temporalPort)}`,
    ...(dist !== undefined && { dist }),
    env: {
      // The three APIs conflict about the hot wallet: one of them commits it for the others.
      BURSAR_INTERNAL_HOST: '127.0.0.1',
      BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
      BURSAR_WEBHOOK_RETRY_SECONDS: Array.from({ length: 20 }, () => '2').join(','),
      // The dead endpoint is parked within the run. The receiver refuses for seconds only.
      BURSAR_WEBHOOK_PARK_AFTER_DAYS: '0.001',
      // Longer than in tests: with thousands of open records, a poll of each every two seconds would overload the bank.
      BURSAR_POLL_MAX_MS: '8000',
      BURSAR_STALL_TIMEOUT_MS: '20000',
      // Requests of the random-fault run come from one address, and keys of a killed store may be unknown for a moment.
      BURSAR_UNAUTHENTICATED_PER_MINUTE: '100000',
      // Short enough that expiring holds, abandoned pages and attempts on later days end within the run.
      BURSAR_AUTHORIZATION_HOLD_DAYS: '0.0005',
      // Long enough for a decision while MongoDB restarts or the machine is busy.
      BURSAR_JIT_DEADLINE_MS: '2000',
      BURSAR_AUTHORIZATION_DEADLINE_MS: '6000',
      SANDBOX_BANK_ANSWER_WITHIN_MS: '8000',
      // Deposits that nobody reports are found within the run.
      BURSAR_DEPOSIT_SEARCH_DAYS: '1',
      BURSAR_DEPOSIT_SEARCH_EVERY_MS: '8000',
      // Reversals that nobody reports are found within the run: all its transfers are looked up within a minute or two.
      BURSAR_RECONCILIATION_DAYS: '1',
      BURSAR_RECONCILIATION_EVERY_MS: '15000',
      SANDBOX_BANK_CALLS_PER_SECOND: '2000',
      BURSAR_CHARGE_EXPIRES_MS: '80000',
      SANDBOX_BANK_PAGES: pages,
      BURSAR_DUNNING_DAYS: '0.00002,0.00004,0.00006',
      ...env,
    },
  });
  // A seeded bug must not be stopped by the database's validator, so this removes it.
  if (dist !== undefined) {
    await service.deps.database.db.command({ collMod: 'wallets', validator: {} });
  }
  const tenants: ChaosTenant[] = [];
  for (let i = 0; i < TENANTS; i += 1) {
    const tenant = await service.tenant({ balanceMinor: i === 0 ? HOT_MINOR : RICH_MINOR });
    const url = `${receiver.url}/${tenant.id}`;
    const endpoint = await service.deps.webhooks.endpoints.add(tenant.id, url);
    if (!endpoint) throw new Error('the endpoint was not added');
    tenants.push({ tenant, hook: new URL(url).pathname, secret: endpoint.secret });
  }
  const dead = `http://127.0.0.1:${await service.deadPort()}/`;
  const last = tenants.at(-1) as ChaosTenant;
  const deadEndpoint = (await service.deps.webhooks.endpoints.add(last.tenant.id, dead))?.id;
  if (deadEndpoint === undefined) throw new Error('the dead endpoint was not added');
  const targets: Target[] = [
    ...service.apis.map((each, i) => processTarget(`api ${i}`, each)),
    ...service.workers.map((each, i) => processTarget(`worker ${i}`, each)),
    // The bank may be killed: its journal is a file that is flushed before each answer.
    processTarget('bank', service.bank),
    engineTarget('mongod', mongod),
    engineTarget('temporal', temporal),
  ];
  const freezeMs: [number, number] = longFreezes
    ? [CONCLUSIVE_AFTER_MS, 2 * CONCLUSIVE_AFTER_MS]
    : [200, CONCLUSIVE_AFTER_MS / 2];
  const waiting = { on: true };
  return {
    service,
    receiver,
    /** True while clients still repeat requests without an answer. */
    isPatient: () => waiting.on,
    giveUp: () => void (waiting.on = false),
    tenants,
    /** A second endpoint of one tenant, at which no process listens. */
    deadEndpoint,
    /** The tenant whose wallet runs out of money. */
    hot: tenants[0] as ChaosTenant,
    /** A random tenant; the tenant of the hot wallet takes a third of the load. */
    anyTenant: (random: Random) =>
      (random.chance(HOT_LOAD) ? tenants[0] : random.pick(tenants)) as ChaosTenant,
    targets,
    links,
    freezeMs,
    /** The workflows as the workers have them. */
    bundle: join(dist ?? compiled(), 'workflow-bundle.js'),
    /** The files of MongoDB and Temporal. */
    dataFolders: [mongod.folder, temporal.folder],
    /** Transfers that the bank reverses after completion, and reports to nobody. */
    reversedUntold: [] as string[],
    /** Histories that failed to replay, for the artifacts. */
    evidence: [] as object[],
    async close(): Promise<void> {
      waiting.on = false;
      await service.close();
      await receiver.close();
      await Promise.all([mongod.remove(), temporal.remove(), network?.close()]);
    },
  };
}
