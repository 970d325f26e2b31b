import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Document } from 'mongodb';
import {
  billPaymentWorkflowId,
  type BillPayment,
} from '../../src/capabilities/bill-payments/bill-payment.js';
import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { operationWorkflowId } from '../../src/capabilities/cards/workflow-contract.js';
import { loadConfig } from '../../src/shared/config.js';
import { createDeps, type Deps } from '../../src/composition/deps.js';
import { compiled } from '../../src/shared/package-root.js';
import { claimPort, type PortClaim } from '../../devstack/ports.js';
import { createMongoClient } from '../../src/platform/database/client.js';
import {
  identityCheckWorkflowId,
  type IdentityCheck,
} from '../../src/capabilities/identity-checks/identity-check.js';
import { chargeWorkflowId, type Charge } from '../../src/capabilities/charges/charge.js';
import { refundWorkflowId, type Refund } from '../../src/capabilities/refunds/refund.js';
import type { Deposit } from '../../src/capabilities/deposits/deposit.js';
import { depositWorkflowId } from '../../src/capabilities/deposits/workflow-contract.js';
import type { VirtualAccount } from '../../src/capabilities/virtual-accounts/virtual-account.js';
import { accountWorkflowId } from '../../src/capabilities/virtual-accounts/workflow-contract.js';
import { transferWorkflowId, type Transfer } from '../../src/capabilities/transfers/transfer.js';
import { startBalancer } from './balancer.js';
import { bankAudit } from './bank.js';
import { findProblems } from './comparison.js';
import { leaveDatabase, newDatabaseName, takeDatabase } from './databases.js';
import { sharedEngines } from './engines.js';
import { eventually } from './eventually.js';
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
    /** Sends callbacks to any API that is up, instead of always the first. */
    balanced?: boolean;
  };
  apis?: number;
  workers?: number;
  /** Settings for API and worker that override the short times of the tests. */
  env?: Environment;
  /** Addresses of a private MongoDB and Temporal. */
  mongodbUri?: string;
  temporalAddress?: string;
  /** A build in another folder than dist/. */
  dist?: string;
};

/** Allows webhooks to this machine, with four attempts within two seconds. */
export const SHORT_WEBHOOK_TIMES = {
  BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
  BURSAR_WEBHOOK_TIMEOUT_MS: '1500',
  BURSAR_WEBHOOK_RETRY_SECONDS: '0.2,0.4,0.6',
};

/**
 * Takes a service that test files use one after the other: its database has the ended records of other files, and its
 * processes run on. For files that look at their own tenants alone. `close` ends it if a record of this file has not ended.
 */
export const shareService = async () =>
  openService({ env: SHORT_WEBHOOK_TIMES }, await takeSharedService());

/** An API process with its address. */
export type Api = ManagedProcess & { url: string; port: number };

/** Ports below the range for outgoing connections, spread so that test files rarely collide. */
const portToTry = () => 11_000 + Math.floor(Math.random() * 15_000);

const SHORT_TIMES: Environment = {
  SANDBOX_BANK_TIMEOUT_MS: '1500',
  BURSAR_POLL_MAX_MS: '2000',
  BURSAR_STALL_TIMEOUT_MS: '2000',
  BURSAR_RECONCILIATION_DAYS: '0',
  BURSAR_DEPOSIT_SEARCH_DAYS: '0',
  BURSAR_LEDGER_CLOSING_EVERY_MS: '0',
};

/** The names of the processes that a service has at first. */
const SHARED_PROCESSES = new Set(['bank', 'api-1', 'worker-2']);

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
  let deps: Deps | null = null;
  let balancer: Awaited<ReturnType<typeof startBalancer>> | null = null;

  async function port(): Promise<number> {
    const claim = await claimPort(portToTry());
    ports.push(claim);
    return claim.port;
  }

  /** The ports of bank and first API, which a shared service keeps. */
  async function ownPorts(): Promise<[number, number]> {
    const [bankPort, apiPort] = shared?.ports ?? [];
    if (bankPort !== undefined && apiPort !== undefined) return [bankPort, apiPort];
    return [await port(), await port()];
  }

  function manage(
    name: string,
    script: string,
    env: Environment,
    isReady: ProcessSettings['isReady'],
  ): ManagedProcess {
    noteSecretsOf(env);
    const logFile = logFileOf(basename(isShared(name) ? dataFolder : folder), name);
    const settings = { name, script, env, logFile, isReady };
    const managed = isShared(name)
      ? lastingProcess({ ...settings, pidFile: join(dataFolder, `${name}.pid`) })
      : manageProcess({ ...settings, reaper });
    processes.set(name, managed);
    return managed;
  }

  /** The first processes of a shared service run on; those that a test adds are its own. */
  const isShared = (name: string) => shared !== null && SHARED_PROCESSES.has(name);

  async function close(): Promise<void> {
    const own = [...processes].filter(([name]) => !isShared(name));
    await Promise.all(own.map(([, each]) => each.kill()));
    balancer?.close();
    if (deps && shared) await deps.close();
    else if (deps) await closeDeps(deps, options);
    for (const claim of ports) claim.release();
    await reaper.close();
  }

  try {
    const [bankPort, firstPort] = await ownPorts();
    const apiPorts = [firstPort];
    while (apiPorts.length < (options.apis ?? 1)) apiPorts.push(await port());
    if (options.bank?.balanced) balancer = await startBalancer(apiPorts);
    const url = (of: number) => `http://127.0.0.1:${of}`;
    const env =
      shared?.env ??
      (await environment(options, url((await options.bank?.through?.(bankPort)) ?? bankPort)));
    const script = (...parts: string[]) => join(options.dist ?? compiled(), ...parts);

    function newApi(at: number, over: Environment = {}): Api {
      const name = `api-${processes.size}`;
      const own = { ...env, ...over, PORT: String(at) };
      const api = manage(name, script('src', 'main.js'), own, answers(`${url(at)}/health/ready`));
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

    const bank = {
      ...manage(
        'bank',
        script('sandbox-bank', 'main.js'),
        bankEnvironment(
          options,
          { env, port: bankPort, dataDir: join(dataFolder, 'bank') },
          url(balancer?.port ?? firstPort),
        ),
        answers(`${url(bankPort)}/_sandbox/health`),
      ),
      ...bankAudit(url(bankPort)),
      url: url(bankPort),
    };
    const apis = apiPorts.map((at) => newApi(at));
    const workers = Array.from({ length: options.workers ?? 1 }, () => newWorker());
    // Migrates first, so that the processes do not wait for each other.
    const opened = await createDeps(loadConfig({ ...env, BURSAR_LOG_LEVEL: 'silent' }), 'test');
    deps = opened;
    await Promise.all([bank, ...apis, ...workers].map((each) => each.start()));
    const first = apis[0] as Api;
    const openRecords = async () => {
      const open = { status: { $in: ['pending', 'processing'] } };
      const counts = INSTRUCTIONS.map((name) =>
        opened.database.db.collection(name).countDocuments(open),
      );
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    };

    return {
      /** The stores, in this process, for data without a route. */
      deps: opened,
      env,
      bank,
      apis,
      workers,
      api: first,
      worker: workers[0] as ManagedProcess,
      /** A further API process with its own settings, not yet started; also on the port of another. */
      newApi: async (over?: Environment, at?: number) => newApi(at ?? (await port()), over),
      newWorker,
      /** Any other process, not yet started, that ends with the service. */
      process: (script: string, own: Environment, isReady: ProcessSettings['isReady']) =>
        manage(`process-${processes.size}`, script, own, isReady),
      /** A port on which no process listens. */
      deadPort: port,
      tenant: (wanted: Omit<NewTestTenant, 'apiUrl'> = {}) =>
        createTenant(opened, { ...wanted, apiUrl: first.url }),
      /** The output of API and worker processes. */
      logs: () =>
        [...processes.entries()]
          .filter(([name]) => name !== 'bank')
          .map(([, each]) => each.output())
          .join('\n'),
      /** Waits until every record of INSTRUCTIONS has ended. */
      allEnded: () =>
        eventually('every record has ended', async () =>
          (await openRecords()) === 0 ? true : undefined,
        ),
      /** The problems in the ledger, and the differences to the bank's journal. */
      problems: async () => findProblems(opened.database, await bank.journal()),
      async close() {
        const isClean = async () =>
          (await openRecords()) === 0 &&
          (await findProblems(opened.database, await bank.journal())).length === 0;
        const mayRunOn = shared !== null && (await isClean());
        await close();
        if (!shared) return;
        if (mayRunOn) await leaveSharedService({ ...shared, env, ports: [bankPort, firstPort] });
        else endSharedService(shared);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** One key for all services of a run: a service that is started on the data of another one opens what that has sealed. */
const SEALING_KEYS = `test:${createHash('sha256').update('a sealing key of the tests').digest('base64')}`;

async function environment(options: ServiceOptions, bankUrl: string): Promise<Environment> {
  const { bank = {}, env = {} } = options;
  const isShared = options.mongodbUri === undefined && env['BURSAR_DATABASE'] === undefined;
  return {
    BURSAR_ENV: 'sandbox',
    MONGODB_URI: options.mongodbUri ?? sharedEngines().mongodbUri,
    BURSAR_DATABASE: isShared ? await takeSharedDatabase() : newDatabaseName(),
    TEMPORAL_ADDRESS: options.temporalAddress ?? sharedEngines().temporalAddress,
    BURSAR_TASK_QUEUE: `test_${randomUUID().replaceAll('-', '')}`,
    BURSAR_KEY_PEPPER: 'a pepper of the tests, which guards nothing',
    SANDBOX_BANK_URL: bankUrl,
    BURSAR_SEALING_KEYS: SEALING_KEYS,
    SANDBOX_BANK_SECRET: 'a secret of the tests',
    SANDBOX_BANK_DEDUPLICATE: String(bank.deduplicate ?? true),
    SANDBOX_BANK_CONCLUSIVE_AFTER_MS: String(bank.conclusiveAfterMs ?? 2_000),
    ...(bank.deduplicateForMs !== undefined && {
      SANDBOX_BANK_DEDUPLICATE_FOR_MS: String(bank.deduplicateForMs),
    }),
    ...SHORT_TIMES,
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

/** Leaves nothing behind on the shared MongoDB and Temporal. Private ones may be gone already. */
async function closeDeps(deps: Deps, options: ServiceOptions): Promise<void> {
  const { db } = deps.database;
  if (options.mongodbUri === undefined) {
    if (options.temporalAddress === undefined) await terminateOpen(deps);
    await leaveDatabase(deps.database.client, db.databaseName);
  }
  await deps.close();
}

/** The collections of records that a workflow works on until they have ended, and the id of a record's workflow. */
const WORKFLOW_IDS = {
  transfers: ({ _id }: Transfer) => transferWorkflowId(_id),
  card_operations: operationWorkflowId as (operation: CardOperation) => string,
  charges: ({ _id }: Charge) => chargeWorkflowId(_id),
  refunds: ({ _id }: Refund) => refundWorkflowId(_id),
  virtual_accounts: accountWorkflowId as (account: VirtualAccount) => string,
  deposits: depositWorkflowId as (deposit: Deposit) => string,
  identity_checks: ({ _id }: IdentityCheck) => identityCheckWorkflowId(_id),
  bill_payments: ({ _id }: BillPayment) => billPaymentWorkflowId(_id),
};
const INSTRUCTIONS = Object.keys(WORKFLOW_IDS);

async function terminateOpen({ database: { db }, temporal }: Deps): Promise<void> {
  const unfinished = {
    $or: [{ status: { $in: ['pending', 'processing'] } }, { next_check_at: { $type: 'date' } }],
  };
  const found = Object.entries(WORKFLOW_IDS).map(async ([name, workflowId]) => {
    const records = await db.collection(name).find(unfinished).toArray();
    return records.map((record) => (workflowId as (record: Document) => string)(record));
  });
  const ids = new Set((await Promise.all(found)).flat());
  const terminate = (id: string) =>
    temporal.client.workflow
      .getHandle(id)
      .terminate('the test is over')
      .catch(() => null);
  await Promise.all([...ids].map(terminate));
}
