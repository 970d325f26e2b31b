import { connectDatabase, createMongoClient } from '../src/platform/database/client.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { acceptTransfer, type AcceptTransfer } from '../src/capabilities/transfers/mutations.js';
import type { Tenant } from '../src/platform/tenants/tenant.js';
import type { Transfer } from '../src/capabilities/transfers/record.js';
import { startChild, type Child } from './child.js';
import { measureCpu, type Processes } from './cpu.js';
import type { LoadQuestion } from './http-load.js';
import { createPlainTransactions } from './plain-transaction.js';
import type { ApplierAnswer, ApplierQuestion } from './outcome-applier.js';
import { answers, environmentOf, type Stack } from './stack.js';
import { closedLoop, type Loop } from './support.js';
import { createMutationMaker, createRichTenant, type MakeMutation } from './transfers.js';

const WALLETS = 100;
/** Interval at which the applying process learns of accepted transfers. */
const REPORT_EVERY_MS = 2;

/** One run of a subject. */
export type Run = {
  loop: Loop;
  usedMs: Record<string, number>;
  othersShare: number;
  appliedPerSecond: number | null;
};
/** The load of a run. */
export type Pace = { clients: number; forMs: number };
/** One way to accept transfers. */
export type Subject = (pace: Pace) => Promise<Run>;
type Engines = { mongod: { uri: string; pid: number }; temporal: { address: string; pid: number } };

/**
 * Starts the processes that the subjects need and returns the subjects. All share one mongod, one database and one
 * kind of document.
 */
export async function createSubjects(stack: Stack, engines: Engines) {
  const { mongod, temporal } = engines;
  const { config, load, applier, beside, alone } = await startProcesses(stack, engines);
  const database = await connectDatabase(config.mongodb, 'bursar-bench');
  const groupCommit = createGroupCommit(database);
  const newTenant = () => createRichTenant(config, database, groupCommit);
  const hot = await newTenant();
  const plainHot = await newTenant();
  const many = await Promise.all(Array.from({ length: WALLETS }, newTenant));
  const tenants = many.map(({ tenant }) => tenant);
  /** Transfers that were accepted on the hot wallet and have no outcome yet. */
  const open: string[] = [];
  const store = async (input: AcceptTransfer) => {
    const outcome = await groupCommit.commit(acceptTransfer, input);
    if (outcome.kind !== 'answered' || outcome.resource !== input.transfer._id) {
      throw new Error('not accepted');
    }
    if (input.tenantId === hot.tenant.id) open.push(input.transfer._id);
  };
  const peer = createMongoClient(mongod.uri, 'bursar-bench-peer');
  const plain = createPlainTransactions(peer, config.mongodb.database);
  const rawTransfers = peer.db(config.mongodb.database).collection<Transfer>('raw_transfers');
  const raw = ({ transfer }: AcceptTransfer) => rawTransfers.insertOne(transfer);

  const makeMutation = createMutationMaker(PROVIDER);
  const inProcess = createInProcess(mongod.pid, makeMutation);
  const overHttp = createOverHttp(mongod.pid, load, hot.key);
  const concurrentOutcomes = {
    tenant: hot.tenant,
    makeMutation,
    store,
    open,
    applier,
    mongod: mongod.pid,
  };
  return {
    subjects: {
      plain: inProcess([plainHot.tenant], plain),
      raw: inProcess([hot.tenant], raw),
      store: inProcess([hot.tenant], store),
      concurrentOutcomes: createConcurrentOutcomes(concurrentOutcomes),
      http: overHttp(alone.url, { api: alone.pid }),
      httpTemporal: overHttp(beside.url, { api: beside.pid, temporal: temporal.pid }),
      plainMany: inProcess(tenants, plain),
      storeMany: inProcess(tenants, store),
    },
    close: async () => {
      await load.stop();
      await applier.stop();
      await peer.close();
      await database.client.close();
    },
  };
}

/** Two API processes, with Temporal and without, the bank, and the bench's own: HTTP clients and applied outcomes. */
async function startProcesses(stack: Stack, { mongod, temporal }: Engines) {
  const bankPort = await stack.freePort();
  const unusedAddress = `127.0.0.1:${await stack.freePort()}`;
  const startApi = async (name: string, temporalAddress: string) => {
    const apiPort = await stack.freePort();
    const at = { mongodbUri: mongod.uri, bankPort, apiPort, temporalAddress };
    const { env, config } = environmentOf(stack, at);
    const url = `http://127.0.0.1:${apiPort}`;
    const { pid } = stack.node('api', env, name);
    await stack.until(name, () => answers(`${url}/health/ready`));
    return { env, config, url, pid };
  };
  const beside = await startApi('api', temporal.address);
  const alone = await startApi('api-alone', unusedAddress);
  stack.node('bank', beside.env);
  await stack.until('bank', () => answers(`http://127.0.0.1:${bankPort}/_sandbox/health`));
  const { config } = beside;
  const applier = startChild<ApplierQuestion, ApplierAnswer>('./outcome-applier.js', {
    BENCH_MONGODB_URI: config.mongodb.uri,
    BENCH_DATABASE: config.mongodb.database,
  });
  const load = startChild<LoadQuestion, Loop>('./http-load.js');
  return { config, load, applier, beside, alone };
}

function createOverHttp(mongod: number, load: Child<LoadQuestion, Loop>, key: string) {
  return (url: string, processes: Processes<string>): Subject =>
    async (pace) => {
      const work = () => load.request({ urls: [url], key, ...pace });
      const all = { load: load.pid, mongod, ...processes };
      const { result, ...cpu } = await measureCpu(all, work);
      return { loop: result, ...cpu, appliedPerSecond: null };
    };
}

const PROVIDER = 'sandbox-bank';

/** Clients inside this process, each with one mutation after the other; several tenants take turns. */
function createInProcess(mongod: number, makeMutation: MakeMutation) {
  return (tenants: readonly Tenant[], act: (input: AcceptTransfer) => Promise<unknown>): Subject =>
    async ({ clients, forMs }) => {
      const work = () => acceptLoop({ clients, forMs, tenants, makeMutation, act });
      const { result, ...cpu } = await measureCpu({ bench: process.pid, mongod }, work);
      return { loop: result, ...cpu, appliedPerSecond: null };
    };
}

function acceptLoop({
  tenants,
  makeMutation,
  act,
  ...pace
}: Pace & {
  tenants: readonly Tenant[];
  makeMutation: MakeMutation;
  act: (input: AcceptTransfer) => Promise<unknown>;
}): Promise<Loop> {
  let turn = 0;
  return closedLoop({
    ...pace,
    async act() {
      turn += 1;
      const tenant = tenants[turn % tenants.length];
      if (tenant) await act(await makeMutation(tenant));
    },
  });
}

/**
 * Acceptance while another process applies outcomes, like a worker: each acceptance permits the outcome of one
 * transfer that was accepted and submitted before.
 */
function createConcurrentOutcomes(parts: {
  tenant: Tenant;
  makeMutation: MakeMutation;
  store: (input: AcceptTransfer) => Promise<void>;
  open: string[];
  applier: Child<ApplierQuestion, ApplierAnswer>;
  mongod: number;
}): Subject {
  const { tenant, makeMutation, store, open, applier, mongod } = parts;
  const processes = { bench: process.pid, mongod, applier: applier.pid };
  const tenants = [tenant];

  async function acceptAndApply(pace: Pace): Promise<{ loop: Loop; end: ApplierAnswer }> {
    let unreported = 0;
    const report = () => {
      if (unreported > 0) applier.send({ kind: 'apply', count: unreported });
      unreported = 0;
    };
    const timer = setInterval(report, REPORT_EVERY_MS);
    const act = async (input: AcceptTransfer) => {
      await store(input);
      unreported += 1;
    };
    const loop = await acceptLoop({ ...pace, tenants, makeMutation, act });
    clearInterval(timer);
    report();
    return { loop, end: await applier.request({ kind: 'finish' }) };
  }

  return async (pace) => {
    for (;;) {
      // Enough transfers for longer than the run, however fast the machine is.
      await acceptLoop({
        clients: pace.clients,
        forMs: 1.5 * pace.forMs,
        tenants,
        makeMutation,
        act: store,
      });
      await applier.request({ kind: 'prepare', tenant: tenant.id, ids: open.splice(0) });
      const { result, ...cpu } = await measureCpu(processes, () => acceptAndApply(pace));
      const { applied, behind, left } = result.end;
      const appliedPerSecond = ((applied - behind) * 1000) / pace.forMs;
      if (left > 0) return { loop: result.loop, ...cpu, appliedPerSecond };
    }
  };
}
