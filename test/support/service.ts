import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { loadConfig } from '../../src/shared/config.js';
import { createDeps, type Deps } from '../../src/composition/deps.js';
import { compiled } from '../../src/shared/package-root.js';
import { claimPort, type PortClaim } from '../../devstack/ports.js';
import { createMongoClient } from '../../src/platform/database/client.js';
import { startBalancer } from './balancer.js';
import { bankAudit } from './bank.js';
import { findProblems, haveProblems } from './comparison.js';
import { leaveDatabase, newDatabaseName, takeDatabase } from './databases.js';
import { sharedEngines, temporalTls } from './engines.js';
import { eventually } from './eventually.js';
import { deleteSchedules, endChecks, INSTRUCTIONS, terminateOpen } from './leftovers.js';
import { logFileOf, noteSecretsOf } from './logs.js';
import {
  answers,
  lastingProcess,
  manageProcess,
  startReaper,
  type ManagedProcess,
  type ProcessSettings,
} from './processes.js';
import {
  endSharedService,
  leaveSharedService,
  takeSharedService,
  type SharedService,
} from './shared-services.js';
import { createTenant, type NewTestTenant } from './tenant.js';

type Environment = Record<string, string>;

const OPEN = { $in: ['pending', 'processing'] };

/** Deviations from the default service. */
export type ServiceOptions = {
  bank?: {
    deduplicate?: boolean;
    /** Age from which the bank refuses a request when it does not de-duplicate. */
    conclusiveAfterMs?: number;
    /** De-duplication ends this long after a request was accepted. */
    deduplicateForMs?: number;
    /** False disables callbacks, so that only polling finds outcomes. */
    callbacks?: boolean;
    /** Returns the port by which API and worker reach the bank, such as that of a proxy. */
    through?: (port: number) => Promise<number>;
    /** Returns the port by which the bank reaches the first API. */
    callbacksThrough?: (port: number) => Promise<number>;
    /** Sends callbacks to any API that is up, instead of always the first. */
    balanced?: boolean;
  };
  apis?: number;
  /** Each API serves its metrics on a port of its own. */
  metrics?: boolean;
  workers?: number;
  /** API and worker in one process, which is `api`. */
  oneProcess?: boolean;
  /** Settings for API and worker that override the short times of the tests. */
  env?: Environment;
  /** Further settings of its workers. */
  workerEnv?: Environment;
  /** Addresses of a private MongoDB and Temporal. */
  mongodbUri?: string;
  temporalAddress?: string;
  /** A build in another folder than dist/. */
  dist?: string;
  /** Runs when the processes have started, and before the stores of this process migrate the database. */
  beforeStores?: (env: Environment, api: Api) => Promise<void>;
};

/** Allows webhooks to this machine, with four attempts within two seconds. */
export const SHORT_WEBHOOK_TIMES = {
  BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
  BURSAR_WEBHOOK_TIMEOUT_MS: '10000',
  BURSAR_WEBHOOK_RETRY_SECONDS: '0.2,0.4,0.6',
};

/**
 * Settings of services that test files share: a file takes one of these if it can, so that fewer services start. API and worker
 * are one process where no test needs two: a process takes seconds of a processor to start.
 */
export const SHARED_OPTIONS = {
  /** Webhooks to this machine. */
  standard: { oneProcess: true, env: SHORT_WEBHOOK_TIMES },
  /** Two APIs, and an operator is called after four seconds. */
  twoApis: { apis: 2, env: { BURSAR_ATTENTION_AFTER_MS: '4000' } },
  /** Webhooks to this machine, and an operator is called after three seconds. */
  earlyAttention: {
    oneProcess: true,
    env: { ...SHORT_WEBHOOK_TIMES, BURSAR_ATTENTION_AFTER_MS: '3000' },
  },
  /** A bank that executes a repeated request again. */
  withoutDeduplication: {
    oneProcess: true,
    bank: { deduplicate: false, conclusiveAfterMs: 1_500 },
    // Just-in-time fundings that are late or silent end after their own deadline.
    env: { BURSAR_ATTENTION_AFTER_MS: '6000', BURSAR_JIT_DEADLINE_MS: '2000' },
  },
} satisfies Record<string, ServiceOptions>;

/**
 * Takes a service that test files use one after the other: its database has the ended records of other files, and its
 * processes run on. For files that look at their own tenants alone. `close` ends the work on records that have not ended; it ends
 * the service if something is wrong. Files with equal options share one.
 */
export const shareService = async (options: ServiceOptions = SHARED_OPTIONS.standard) =>
  openService(options, await takeSharedService(options));

/** An API process with its address. */
export type Api = ManagedProcess & { url: string; port: number };

/** Ports below the range for outgoing connections, spread so that test files rarely collide. */
const portToTry = () => 11_000 + Math.floor(Math.random() * 15_000);

/** Times of what a test waits for are short. Deadlines that end good work are long, for slow machines. */
const TEST_TIMES: Environment = {
  SANDBOX_BANK_TIMEOUT_MS: '1500',
  BURSAR_POLL_MAX_MS: '2000',
  BURSAR_STALL_TIMEOUT_MS: '2000',
  BURSAR_RECONCILIATION_DAYS: '0',
  BURSAR_STATEMENT_DAYS: '0',
  BURSAR_DEPOSIT_SEARCH_DAYS: '0',
  BURSAR_LEDGER_CLOSING_EVERY_MS: '0',
  BURSAR_JIT_DEADLINE_MS: '10000',
  BURSAR_AUTHORIZATION_DEADLINE_MS: '8000',
  SANDBOX_BANK_ANSWER_WITHIN_MS: '9000',
};

/** A running service. */
export type Service = Awaited<ReturnType<typeof startService>>;

/**
 * Starts the whole service as separate processes from dist/: a sandbox bank, APIs and workers, with a database, task
 * queues and a bank journal of their own. `close` ends all of them in any state.
 */
export const startService = (options: ServiceOptions = {}) => openService(options, null);

async function openService(options: ServiceOptions, shared: SharedService | null) {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-service-'));
  const dataFolder = shared?.folder ?? folder;
  const reaper = startReaper(folder);
  const ports: PortClaim[] = [];
  const processes = new Map<string, ManagedProcess>();
  /** The first processes of a shared service run on; those that a test adds are its own. */
  const lasting = new Set<string>();
  let areFirst = true;
  let deps: Deps | null = null;
  let balancer: Awaited<ReturnType<typeof startBalancer>> | null = null;

  async function port(): Promise<number> {
    const claim = await claimPort(portToTry());
    ports.push(claim);
    return claim.port;
  }

  /** The ports of bank and APIs, which a shared service keeps. */
  async function ownPorts(): Promise<number[]> {
    const wanted = 1 + (options.apis ?? 1);
    const kept = [...(shared?.ports ?? [])];
    while (kept.length < wanted) kept.push(await port());
    return kept;
  }

  function manage(
    name: string,
    script: string,
    env: Environment,
    isReady: ProcessSettings['isReady'],
  ): ManagedProcess {
    noteSecretsOf(env);
    const lasts = shared !== null && areFirst;
    if (lasts) lasting.add(name);
    const logFile = logFileOf(basename(lasts ? dataFolder : folder), name);
    const settings = { name, script, env, logFile, isReady };
    const managed = lasts
      ? lastingProcess({ ...settings, pidFile: join(dataFolder, `${name}.pid`) })
      : manageProcess({ ...settings, reaper });
    processes.set(name, managed);
    return managed;
  }

  async function close(): Promise<void> {
    const own = [...processes].filter(([name]) => !lasting.has(name));
    await Promise.all(own.map(([, each]) => each.kill()));
    balancer?.close();
    if (deps && shared) await deps.close();
    else if (deps) await closeDeps(deps, options);
    for (const claim of ports) claim.release();
    await reaper.close();
  }

  try {
    const shareable = await ownPorts();
    const [bankPort = 0, ...apiPorts] = shareable;
    const [firstPort = 0] = apiPorts;
    if (options.bank?.balanced) balancer = await startBalancer(apiPorts);
    const callbacks = balancer?.port ?? (await options.bank?.callbacksThrough?.(firstPort));
    const url = (of: number) => `http://127.0.0.1:${of}`;
    const env =
      shared?.env ??
      (await environment(options, url((await options.bank?.through?.(bankPort)) ?? bankPort)));
    const script = (...parts: string[]) => join(options.dist ?? compiled(), ...parts);

    function newApi(at: number, over: Environment = {}): Api {
      const name = `api-${processes.size}`;
      const own = { ...env, ...over, PORT: String(at) };
      const main = options.oneProcess ? ['worker', 'all-in-one.js'] : ['src', 'main.js'];
      const api = manage(name, script(...main), own, answers(`${url(at)}/health/ready`));
      return { ...api, url: url(at), port: at };
    }
    function newWorker(over: Environment = {}): ManagedProcess {
      const isReady = (output: string) => output.includes('worker is running');
      return manage(
        `worker-${processes.size}`,
        script('worker', 'main.js'),
        { ...env, ...over },
        isReady,
      );
    }

    function newBank(over: Environment = {}): ManagedProcess {
      const own = { env, port: bankPort, dataDir: join(dataFolder, 'bank') };
      return manage(
        'bank',
        script('sandbox-bank', 'main.js'),
        { ...bankEnvironment(options, own, url(callbacks ?? firstPort)), ...over },
        answers(`${url(bankPort)}/_sandbox/health`),
      );
    }

    const bank = {
      ...newBank(),
      ...bankAudit(url(bankPort)),
      url: url(bankPort),
    };
    const metricsPorts = options.metrics ? await Promise.all(apiPorts.map(port)) : [];
    const apis = apiPorts.map((at, i) => newApi(at, metricsAt(metricsPorts[i])));
    const workers = Array.from({ length: options.workers ?? (options.oneProcess ? 0 : 1) }, () =>
      newWorker(options.workerEnv),
    );
    areFirst = false;
    const first = apis[0] as Api;
    const startAll = () => Promise.all([bank, ...apis, ...workers].map((each) => each.start()));
    if (options.beforeStores) {
      await startAll();
      await options.beforeStores(env, first);
    }
    // Migrates first, so that the processes do not wait for each other.
    const opened = await createDeps(loadConfig({ ...env, BURSAR_LOG_LEVEL: 'silent' }), 'test');
    deps = opened;
    if (!options.beforeStores) await startAll();
    const idsOfOpen = async () => {
      const found = INSTRUCTIONS.map((name) =>
        opened.database.db.collection(name).distinct('_id', { status: OPEN }),
      );
      return (await Promise.all(found)).flat().map(String);
    };
    /** The tenants of this file. */
    const tenants: string[] = [];
    /** The records that earlier users of a shared service have left open. Nothing works on them. */
    const leftOpen = new Set(shared ? await idsOfOpen() : []);
    const openRecords = async () => (await idsOfOpen()).filter((id) => !leftOpen.has(id)).length;

    /** Ends all work on records, after a short wait for their own ends. True if nothing is wrong then. */
    async function isClean(): Promise<boolean> {
      const ended = async () => ((await openRecords()) === 0 ? true : undefined);
      await eventually('every record has ended', ended, 3_000).catch(() => false);
      await endChecks(opened);
      if ((await bank.callbacksWaiting()) > 0) return false;
      return !(await haveProblems(tenants, opened.database, await bank.journal()));
    }

    return {
      /** The stores, in this process, for data without a route. */
      deps: opened,
      env,
      bank,
      apis,
      /** The addresses of the metrics of these APIs, if they serve them. */
      metricsUrls: metricsPorts.map((at) => `${url(at)}/metrics`),
      workers,
      api: first,
      worker: workers[0] as ManagedProcess,
      /** True if workflows run. */
      hasWorker: options.oneProcess === true || workers.length > 0,
      /** A further API process with its own settings, not yet started; also on the port of another. */
      newApi: async (over?: Environment, at?: number) => newApi(at ?? (await port()), over),
      newWorker,
      /** The bank with other settings, not yet started: for one that was stopped. */
      newBank,
      /** Any other process, not yet started, that ends with the service. */
      process: (script: string, own: Environment, isReady: ProcessSettings['isReady']) =>
        manage(`process-${processes.size}`, script, own, isReady),
      /** A port on which no process listens. */
      deadPort: port,
      tenant: async (wanted: Omit<NewTestTenant, 'apiUrl'> = {}) => {
        const made = await createTenant(opened, { ...wanted, apiUrl: first.url });
        tenants.push(made.id);
        return made;
      },
      /** The output of API and worker processes. */
      logs: () =>
        [...processes.entries()]
          .filter(([name]) => name !== 'bank')
          .map(([, each]) => each.output())
          .join('\n'),
      /** Waits until every record of INSTRUCTIONS has ended. */
      allEnded: () =>
        eventually('every record has ended', async () => {
          const open = await openRecords();
          if (open > 0) throw new Error(`${open} open: ${await firstOpen(opened)}`);
          return true;
        }),
      /** The problems in the ledger, and the differences to the bank's journal, that its last messages do not end. */
      problems: () => remaining(async () => findProblems(opened.database, await bank.journal())),
      async close() {
        const mayRunOn = shared !== null && (await isClean());
        await close();
        if (!shared) return;
        if (mayRunOn) await leaveSharedService({ ...shared, env, ports: shareable });
        else endSharedService(shared);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const metricsAt = (port: number | undefined): Environment =>
  port === undefined ? {} : { BURSAR_METRICS_PORT: String(port) };

/** The bank's messages follow its journal: a difference counts if it is there for so long. */
const MESSAGES_ARRIVE_WITHIN_MS = 30_000;

/** The problems that a message on its way does not end. */
async function remaining(find: () => Promise<string[]>): Promise<string[]> {
  const end = performance.now() + MESSAGES_ARRIVE_WITHIN_MS;
  for (;;) {
    const found = await find();
    if (found.length === 0 || performance.now() > end) return found;
    await sleep(250);
  }
}

/** One key for all services of a run: a service that is started on the data of another one opens what that has sealed. */
const SEALING_KEYS = `test:${createHash('sha256').update('a sealing key of the tests').digest('base64')}`;

/** The secrets of all services of a run. */
export const SERVICE_SECRETS = {
  BURSAR_KEY_PEPPER: 'a pepper of the tests, which guards nothing',
  BURSAR_SEALING_KEYS: SEALING_KEYS,
  SANDBOX_BANK_SECRET: 'a secret of the tests',
};

async function environment(options: ServiceOptions, bankUrl: string): Promise<Environment> {
  const { bank = {}, env = {} } = options;
  const isShared = options.mongodbUri === undefined && env['BURSAR_DATABASE'] === undefined;
  return {
    BURSAR_ENV: 'sandbox',
    MONGODB_URI: options.mongodbUri ?? sharedEngines().mongodbUri,
    BURSAR_DATABASE: isShared ? await takeSharedDatabase() : newDatabaseName(),
    TEMPORAL_ADDRESS: options.temporalAddress ?? sharedEngines().temporalAddress,
    ...(options.temporalAddress === undefined && temporalTls()),
    BURSAR_TASK_QUEUE: `test_${randomUUID().replaceAll('-', '')}`,
    ...SERVICE_SECRETS,
    SANDBOX_BANK_URL: bankUrl,
    SANDBOX_BANK_DEDUPLICATE: String(bank.deduplicate ?? true),
    SANDBOX_BANK_CONCLUSIVE_AFTER_MS: String(bank.conclusiveAfterMs ?? 2_000),
    ...(bank.deduplicateForMs !== undefined && {
      SANDBOX_BANK_DEDUPLICATE_FOR_MS: String(bank.deduplicateForMs),
    }),
    ...TEST_TIMES,
    ...env,
  };
}

async function takeSharedDatabase(): Promise<string> {
  const client = createMongoClient(sharedEngines().mongodbUri, 'bursar-test');
  try {
    return await takeDatabase(client);
  } finally {
    await client.close();
  }
}

function bankEnvironment(
  { bank = {} }: ServiceOptions,
  own: { env: Environment; port: number; dataDir: string },
  apiUrl: string,
): Environment {
  const shared = Object.entries(own.env).filter(([name]) => name.startsWith('SANDBOX_BANK_'));
  return {
    ...Object.fromEntries(shared),
    SANDBOX_BANK_PORT: String(own.port),
    SANDBOX_BANK_DATA: own.dataDir,
    ...(bank.callbacks !== false && {
      SANDBOX_BANK_CALLBACK_URL: `${apiUrl}/api/v1/webhooks/payments/sandbox-bank`,
      SANDBOX_BANK_CARD_CALLBACK_URL: `${apiUrl}/api/v1/webhooks/cards/sandbox-bank`,
    }),
  };
}

/** Some of the open records, for the message of a test that waits for their end. */
async function firstOpen({ database: { db } }: Deps): Promise<string> {
  const found = INSTRUCTIONS.map((name) =>
    db
      .collection<{ _id: string }>(name)
      .find(
        { status: OPEN },
        {
          projection: {
            status: 1,
            next_check_at: 1,
            submissions: 1,
            last_outcome: 1,
            attention: 1,
            rejected_submissions: 1,
            polls: 1,
            updated_at: 1,
            timeline: { $slice: -4 },
          },
        },
      )
      .limit(3)
      .toArray(),
  );
  return JSON.stringify((await Promise.all(found)).flat());
}

/** Leaves nothing behind on the shared MongoDB and Temporal. Private ones may be gone already. */
async function closeDeps(deps: Deps, options: ServiceOptions): Promise<void> {
  const { db } = deps.database;
  if (options.mongodbUri === undefined) {
    if (options.temporalAddress === undefined) {
      await Promise.all([terminateOpen(deps), deleteSchedules(deps)]);
    }
    await leaveDatabase(deps.database.client, db.databaseName);
  }
  await deps.close();
}
