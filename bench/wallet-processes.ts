/**
 * Measures one hot wallet over several processes, and a quiet wallet beside it: whole API processes over HTTP, and their commit
 * engines alone. See docs/performance.md.
 */
import { migrations } from '../src/composition/migrations.js';
import { migrate } from '../src/platform/database/migrations.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { connectDatabase } from '../src/platform/database/client.js';
import type { Tenant } from '../src/platform/tenants/tenant.js';
import { startChild, type Child } from './child.js';
import type { CommitAnswer, CommitQuestion } from './committing-process.js';
import { measureCpu } from './cpu.js';
import { environmentOf, openStack } from './stack.js';
import {
  interleave,
  isShort,
  median,
  oneDigit,
  printGoals,
  printMachine,
  printTable,
  ratioOf,
  warmUp,
  whole,
} from './support.js';
import { createRichTenant } from './transfers.js';
import { startApis } from './wallet-apis.js';

const CLIENTS = [40, 240];
const PROCESSES = [1, 2, 5];
const ROUNDS = isShort ? 1 : 5;
const FOR_MS = isShort ? 1_000 : 4_000;
const WARM_UP_MS = isShort ? 200 : 4_000;
const MOST = Math.max(...PROCESSES);

type Worker = Child<CommitQuestion, CommitAnswer>;
type Run = {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  quietP50Ms: number;
  cpuMs: number;
  othersShare: number;
};
/** `overHttp`: whole API processes, and not their commit engines alone. */
type Shape = { overHttp: boolean; processes: number; forwards: boolean; clients: number };

const nameOf = ({ overHttp, processes, forwards, clients }: Shape) => {
  const kind = `${overHttp ? 'API ' : ''}process${processes === 1 ? '' : 'es'}`;
  const how = processes === 1 || forwards ? '' : ', without forwarding';
  return `${clients} clients, ${processes} ${kind}${how}`;
};

// One process forwards nothing, also while its wallet is contended.
const SHAPES: readonly Shape[] = CLIENTS.flatMap((clients) => [
  { overHttp: true, processes: 1, forwards: false, clients },
  { overHttp: true, processes: MOST, forwards: true, clients },
  ...PROCESSES.map((processes) => ({
    overHttp: false,
    processes,
    forwards: processes > 1,
    clients,
  })),
  { overHttp: false, processes: MOST, forwards: false, clients },
]);

/** Runs the clients of the hot wallet spread over the processes, and one client of the quiet wallet in the last one. */
async function runShape(shape: Shape, parts: Parts & { forMs: number }): Promise<Run> {
  return shape.overHttp ? runApis(shape, parts) : runEngines(shape, parts);
}

async function runApis(
  { processes, clients }: Shape,
  { apis, forMs }: Parts & { forMs: number },
): Promise<Run> {
  const { hot, quiet, ...used } = await apis.run({ processes, clients, forMs });
  return { ...used, ...hot, quietP50Ms: quiet.p50Ms };
}

async function runEngines(
  { processes, forwards, clients }: Shape,
  { workers, mongod, hot, quiet, forMs }: Parts & { forMs: number },
): Promise<Run> {
  const taking = workers.slice(0, processes);
  const pids = Object.fromEntries(taking.map(({ pid }, i) => [`process ${i}`, pid]));
  const { result, usedMs, othersShare } = await measureCpu({ mongod, ...pids }, () =>
    Promise.all(
      taking.map((worker, i) =>
        worker.request({
          forwards,
          hot,
          quiet: i === processes - 1 ? quiet : null,
          clients: clients / processes,
          forMs,
        }),
      ),
    ),
  );
  const completed = result.reduce((sum, each) => sum + each.hot.completed, 0);
  const used = Object.values<number>(usedMs).reduce((sum, ms) => sum + ms, 0);
  return {
    perSecond: result.reduce((sum, each) => sum + each.hot.perSecond, 0),
    p50Ms: median(result.map((each) => each.hot.p50Ms)),
    p99Ms: Math.max(...result.map((each) => each.hot.p99Ms)),
    quietP50Ms: result.at(-1)?.quiet?.p50Ms ?? NaN,
    cpuMs: used / completed,
    othersShare,
  };
}

type Parts = {
  workers: Worker[];
  mongod: number;
  hot: Tenant;
  quiet: Tenant;
  apis: Awaited<ReturnType<typeof startApis>>;
};

function print(results: Record<string, Run[]>): void {
  const of = (name: string, pick: (run: Run) => number) =>
    median((results[name] ?? []).map((run) => pick(run)));
  printTable(
    ['one wallet', 'accepted/s', 'p50 ms', 'p99 ms', 'quiet wallet p50 ms', 'CPU ms each'],
    Object.keys(results).map((name) => [
      name,
      whole(of(name, (run) => run.perSecond)),
      oneDigit(of(name, (run) => run.p50Ms)),
      oneDigit(of(name, (run) => run.p99Ms)),
      oneDigit(of(name, (run) => run.quietP50Ms)),
      of(name, (run) => run.cpuMs).toFixed(2),
    ]),
  );
  const ratio = (above: Shape, below: Shape, pick: (run: Run) => number) =>
    ratioOf((results[nameOf(above)] ?? []).map(pick), (results[nameOf(below)] ?? []).map(pick));
  const compare = (clients: number, overHttp: boolean) => {
    const kind = overHttp ? 'API processes' : 'processes';
    const one = { overHttp, processes: 1, forwards: false, clients };
    const most = { overHttp, processes: MOST, forwards: true, clients };
    return [
      {
        what: `${clients} clients: accepted/s, ${MOST} ${kind} / 1`,
        measured: ratio(most, one, (run) => run.perSecond),
        goal: { least: 0.8 },
      },
      {
        what: `${clients} clients: p50 of the quiet wallet, ${MOST} ${kind} / 1`,
        measured: ratio(most, one, (run) => run.quietP50Ms),
        goal: { most: 2 },
      },
    ];
  };
  const withoutForwarding = (clients: number) => {
    const one = { overHttp: false, processes: 1, forwards: false, clients };
    return {
      what: `${clients} clients: accepted/s, ${MOST} processes without forwarding / 1`,
      measured: ratio({ ...one, processes: MOST }, one, (run) => run.perSecond),
      goal: null,
    };
  };
  printGoals(
    CLIENTS.flatMap((clients) => [
      ...compare(clients, true),
      ...compare(clients, false),
      withoutForwarding(clients),
    ]),
  );
}

const stack = await openStack();
try {
  const mongod = await stack.mongod();
  const unused = await stack.freePort();
  const { config } = environmentOf(stack, {
    mongodbUri: mongod.uri,
    bankPort: unused,
    apiPort: unused,
    temporalAddress: `127.0.0.1:${unused}`,
  });
  const database = await connectDatabase(config.mongodb, 'bursar-bench');
  await migrate(database.db, migrations);
  const newTenant = async () =>
    (await createRichTenant(config, database, createGroupCommit(database))).tenant;
  const [hot, quiet] = [await newTenant(), await newTenant()];
  const workers = Array.from({ length: MOST }, () =>
    startChild<CommitQuestion, CommitAnswer>('./committing-process.js', {
      BENCH_MONGODB_URI: config.mongodb.uri,
      BENCH_DATABASE: config.mongodb.database,
    }),
  );
  const apis = await startApis(stack, mongod, MOST);
  const parts = { workers, mongod: mongod.pid, hot, quiet, apis };
  const paced = (timeOf: (shape: Shape) => number) =>
    Object.fromEntries(
      SHAPES.map((shape) => [
        nameOf(shape),
        () => runShape(shape, { ...parts, forMs: timeOf(shape) }),
      ]),
    );
  // Each of several processes has a part of the load only, so it takes longer until V8 has compiled its code.
  await warmUp(paced(({ processes }) => WARM_UP_MS * processes));
  const results = await interleave(
    paced(() => FOR_MS),
    ROUNDS,
  );
  printMachine({ MongoDB: mongod.version }, results);
  print(results);
  await apis.close();
  for (const worker of workers) await worker.stop();
  await database.client.close();
} finally {
  await stack.stop();
}
