import { connectDatabase, createMongoClient } from '../src/database/client.js';
import { migrate } from '../src/database/migrations.js';
import { migrations } from '../src/database/schema.js';
import { createGroupCommit } from '../src/ledger/group-commit.js';
import type { AcceptItem } from '../src/ledger/decide.js';
import type { Tenant } from '../src/tenants/tenant.js';
import type { Transfer } from '../src/transfers/transfer.js';
import { startChild, type Child } from './child.js';
import { measureCpu, type Processes } from './cpu.js';
import type { LoadQuestion } from './http-load.js';
import { createPlainTransactions } from './plain-transaction.js';
import type { SettlerAnswer, SettlerQuestion } from './settler.js';
import { answers, environmentOf, type Stack } from './stack.js';
import { closedLoop, type Loop } from './support.js';
import { createItemMaker, createRichTenant, type MakeItem } from './transfers.js';

const DATABASE = 'bursar_sandbox';
const WALLETS = 100;
/** How often the settling process is told what has been accepted. */
const TELL_EVERY_MS = 2;

export type Run = { loop: Loop; usedMs: Record<string, number>; settledPerSecond: number | null };
export type Pace = { clients: number; forMs: number };
export type Subject = (pace: Pace) => Promise<Run>;
type Engines = { mongod: { uri: string; pid: number }; temporal: { address: string; pid: number } };

/** Starts what the subjects need and answers them. All share one mongod, one database and one kind of document. */
export async function createSubjects(stack: Stack, engines: Engines) {
  const { mongod, temporal } = engines;
  const bankPort = await stack.freePort();
  const at = { mongodbUri: mongod.uri, bankPort };
  const nobody = `127.0.0.1:${await stack.freePort()}`;
  const [apiPort, alonePort] = [await stack.freePort(), await stack.freePort()];
  const beside = environmentOf(stack, { ...at, apiPort, temporalAddress: temporal.address });
  const alone = environmentOf(stack, { ...at, apiPort: alonePort, temporalAddress: nobody });

  stack.node('bank', beside.env);
  const api = stack.node('api', beside.env);
  const apiAlone = stack.node('api', alone.env, 'api-alone');
  const settler = startChild<SettlerQuestion, SettlerAnswer>('./settler.js', {
    BENCH_MONGODB_URI: mongod.uri,
    BENCH_DATABASE: DATABASE,
  });
  const load = startChild<LoadQuestion, Loop>('./http-load.js');
  const database = await connectDatabase({ uri: mongod.uri, database: DATABASE }, 'bursar-bench');
  await migrate(database.db, migrations);
  await stack.until('bank', () => answers(`http://127.0.0.1:${bankPort}/_sandbox/health`));
  await stack.until('api', () => answers(`http://127.0.0.1:${apiPort}/health/ready`));
  await stack.until('api-alone', () => answers(`http://127.0.0.1:${alonePort}/health/ready`));

  const groupCommit = createGroupCommit(database);
  const newTenant = () => createRichTenant(beside.config, database, groupCommit);
  const hot = await newTenant();
  const plainHot = await newTenant();
  const many = await Promise.all(Array.from({ length: WALLETS }, newTenant));
  const peer = createMongoClient(mongod.uri, 'bursar-bench-peer');
  const makeItem = createItemMaker(PROVIDER);
  const inProcess = createInProcess(mongod.pid, makeItem);
  const plain = createPlainTransactions(peer, DATABASE);
  const raw = peer.db(DATABASE).collection<Transfer>('raw_transfers');
  const tenants = many.map(({ tenant }) => tenant);
  /** Accepted on the hot wallet and not settled. */
  const open: string[] = [];
  const store = async (item: AcceptItem) => {
    const outcome = await groupCommit.commit(item);
    if (outcome.kind !== 'answered' || outcome.resource !== item.transfer._id) {
      throw new Error('not accepted');
    }
    if (item.tenant === hot.tenant.id) open.push(item.transfer._id);
  };
  const overHttp = (port: number, key: string, processes: Processes<string>): Subject => {
    const measured = { load: load.pid, mongod: mongod.pid, ...processes };
    return async (pace) => {
      const url = `http://127.0.0.1:${port}`;
      const work = () => load.ask({ url, key, ...pace });
      const { result, usedMs } = await measureCpu(measured, work);
      return { loop: result, usedMs, settledPerSecond: null };
    };
  };

  const subjects = {
    plain: inProcess([plainHot.tenant], plain),
    raw: inProcess([hot.tenant], ({ transfer }) => raw.insertOne(transfer)),
    store: inProcess([hot.tenant], store),
    settling: createSettling({
      tenant: hot.tenant,
      makeItem,
      store,
      open,
      settler,
      mongod: mongod.pid,
    }),
    http: overHttp(alonePort, hot.key, { api: apiAlone.pid }),
    httpTemporal: overHttp(apiPort, hot.key, { api: api.pid, temporal: temporal.pid }),
    plainMany: inProcess(tenants, plain),
    storeMany: inProcess(tenants, store),
  };
  return {
    subjects,
    close: async () => {
      await load.stop();
      await settler.stop();
      await peer.close();
      await database.client.close();
    },
  };
}

const PROVIDER = 'sandbox-bank';

/** Clients inside this process, each with one item after the other; several tenants take turns. */
function createInProcess(mongod: number, makeItem: MakeItem) {
  return (tenants: readonly Tenant[], act: (item: AcceptItem) => Promise<unknown>): Subject =>
    async ({ clients, forMs }) => {
      const work = () => acceptLoop({ clients, forMs, tenants, makeItem, act });
      const { result, usedMs } = await measureCpu({ bench: process.pid, mongod }, work);
      return { loop: result, usedMs, settledPerSecond: null };
    };
}

function acceptLoop({
  tenants,
  makeItem,
  act,
  ...pace
}: Pace & {
  tenants: readonly Tenant[];
  makeItem: MakeItem;
  act: (item: AcceptItem) => Promise<unknown>;
}): Promise<Loop> {
  let turn = 0;
  return closedLoop({
    ...pace,
    async act() {
      turn += 1;
      const tenant = tenants[turn % tenants.length];
      if (tenant) await act(await makeItem(tenant));
    },
  });
}

/**
 * Acceptance while another process settles, as a worker does: each acceptance lets it settle one transfer that was
 * accepted in an earlier round and has been sent since.
 */
function createSettling(parts: {
  tenant: Tenant;
  makeItem: MakeItem;
  store: (item: AcceptItem) => Promise<void>;
  open: string[];
  settler: Child<SettlerQuestion, SettlerAnswer>;
  mongod: number;
}): Subject {
  const { tenant, makeItem, store, open, settler, mongod } = parts;
  return async (pace) => {
    await settler.ask({ kind: 'prepare', tenant: tenant.id, ids: open.splice(0) });
    let untold = 0;
    const tell = () => {
      if (untold > 0) settler.tell({ kind: 'settle', count: untold });
      untold = 0;
    };
    const act = async (item: AcceptItem) => {
      await store(item);
      untold += 1;
    };
    let end: SettlerAnswer | null = null;
    const work = async () => {
      const timer = setInterval(tell, TELL_EVERY_MS);
      const loop = await acceptLoop({ ...pace, tenants: [tenant], makeItem, act });
      clearInterval(timer);
      tell();
      end = await settler.ask({ kind: 'finish' });
      return loop;
    };
    const { result, usedMs } = await measureCpu(
      { bench: process.pid, mongod, settler: settler.pid },
      work,
    );
    const { settled, behind, left } = end ?? { settled: 0, behind: 0, left: 0 };
    if (left === 0) throw new Error('there was not enough to settle');
    return { loop: result, usedMs, settledPerSecond: ((settled - behind) * 1000) / pace.forMs };
  };
}
