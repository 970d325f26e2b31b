import { join } from 'node:path';
import { compiled } from '../../../src/shared/package-root.js';
import { privateMongod, privateTemporal } from '../../support/engines.js';
import { startReceiver } from '../../support/receiver.js';
import { startService } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';
import { openNetwork, type Link } from './network.js';
import type { Random } from './random.js';
import { engineTarget, processTarget, type Target } from './targets.js';

/** The bank refuses orders older than this: nobody may be frozen for longer, or an old order could still be paid. */
const CONCLUSIVE_AFTER_MS = 5_000;
const TENANTS = 12;
const RICH_MINOR = 1_000_000_000;
/** The wallet that a third of the load falls on, and which runs dry. */
const HOT_LOAD = 0.3;
const HOT_MINOR = 1_500_000;

/** A tenant, and where it is told of events: the path there, and the secret that signs them. */
export type ChaosTenant = { tenant: TestTenant; hook: string; secret: string };
export type ChaosCluster = Awaited<ReturnType<typeof openCluster>>;

export type ClusterOptions = {
  /** Freezes last longer than the bank's word is final, and the bank pays a repeated order once. */
  longFreezes?: boolean;
  /** What is run instead of dist/. */
  dist?: string;
};

/** Two APIs, two workers, engines of their own, a bank that pays a repeated order twice, and who is told. */
export async function openCluster({ longFreezes = false, dist }: ClusterOptions = {}) {
  const [mongod, temporal, network] = await Promise.all([
    privateMongod(),
    privateTemporal(),
    openNetwork(),
  ]);
  const links: Link[] = [];
  /** Where this port is reached by the processes of the service. */
  async function through(name: string, port: number): Promise<number> {
    const link = await network?.link(name, port);
    if (link) links.push(link);
    return link?.port ?? port;
  }
  const mongodPort = Number(new URL(mongod.uri).port);
  const temporalPort = Number(temporal.address.split(':')[1]);
  const receiver = await startReceiver();
  const service = await startService({
    apis: 2,
    workers: 2,
    bank: {
      deduplicate: longFreezes,
      conclusiveAfterMs: CONCLUSIVE_AFTER_MS,
      balanced: true,
      through: (port) => through('bank', port),
    },
    mongodbUri: mongod.uri.replace(`:${mongodPort}`, `:${await through('mongod', mongodPort)}`),
    temporalAddress: `127.0.0.1:${await through('temporal', temporalPort)}`,
    ...(dist !== undefined && { dist }),
    env: {
      BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
      BURSAR_WEBHOOK_RETRY_SECONDS: Array.from({ length: 20 }, () => '2').join(','),
      // Longer than in tests: where thousands are open, asking after each every two seconds is a random-fault run of its own.
      BURSAR_POLL_MAX_MS: '8000',
      BURSAR_STALL_TIMEOUT_MS: '20000',
      // Requests of the random-fault run come from one address, and keys of a killed store may be unknown for a moment.
      BURSAR_UNAUTHENTICATED_PER_MINUTE: '100000',
      // What waits for somebody who never comes ends within the random-fault run: holds, pages, and tries on later days.
      BURSAR_AUTHORIZATION_HOLD_DAYS: '0.0005',
      // Who pays with a card waits for a store that is killed, or a machine that is busy.
      BURSAR_AUTHORIZATION_DEADLINE_MS: '6000',
      SANDBOX_BANK_ANSWER_WITHIN_MS: '8000',
      BURSAR_CHARGE_EXPIRES_MS: '120000',
      BURSAR_DUNNING_DAYS: '0.00002,0.00004,0.00006',
    },
  });
  // A seeded bug has to get past the second guard as well, which is the schema that this process has migrated.
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
  const targets: Target[] = [
    ...service.apis.map((each, i) => processTarget(`api ${i}`, each)),
    ...service.workers.map((each, i) => processTarget(`worker ${i}`, each)),
    // Its journal is a file, flushed before it answers.
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
    /** Whether clients still come again with what has not been answered. */
    isPatient: () => waiting.on,
    giveUp: () => void (waiting.on = false),
    tenants,
    /** The one whose wallet runs dry. */
    hot: tenants[0] as ChaosTenant,
    /** Whose turn it is: a third of the load is on one wallet. */
    anyTenant: (random: Random) =>
      (random.chance(HOT_LOAD) ? tenants[0] : random.pick(tenants)) as ChaosTenant,
    targets,
    links,
    freezeMs,
    /** The workflows as the workers have them. */
    bundle: join(dist ?? compiled(), 'workflow-bundle.js'),
    /** What the checker has found and nobody can look up any more. */
    evidence: [] as object[],
    async close(): Promise<void> {
      waiting.on = false;
      await service.close();
      await receiver.close();
      await Promise.all([mongod.remove(), temporal.remove(), network?.close()]);
    },
  };
}
