/**
 * Measures how fast dispatchers start the workflows of due transfers after an outage: 1, 2 and 10 of them, beside each
 * other in this process, with a Temporal that answers every start at once. `--short` only shows that it runs.
 */
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { migrations } from '../src/composition/migrations.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { starterSettings } from '../src/core/instructions/instruction-starter.js';
import { supervisedInGroups } from '../src/core/supervision/supervision.js';
import { createTransfers } from '../src/capabilities/transfers/store.js';
import type { Transfer } from '../src/capabilities/transfers/record.js';
import { createCompletionWaiters } from '../src/shared/completion-waiter.js';
import { createTransferStarter } from '../src/capabilities/transfers/workflow-starter.js';
import { newTransfer } from '../src/capabilities/transfers/create.js';
import { connectDatabase, type Database } from '../src/platform/database/client.js';
import { migrate } from '../src/platform/database/migrations.js';
import { createTemporal, type Temporal } from '../src/platform/temporal/client.js';
import type { Config } from '../src/shared/config.js';
import { createLog } from '../src/shared/log.js';
import { createDispatcher } from '../worker/dispatcher.js';
import { environmentOf, openStack, type Stack } from './stack.js';
import { createRichTenant, transferBody } from './transfers.js';
import {
  interleave,
  isShort,
  median,
  printGoals,
  printMachine,
  printTable,
  ratioOf,
  whole,
} from './support.js';
import { measureCpu } from './cpu.js';

const DUE = isShort ? 500 : 10_000;
const ROUNDS = isShort ? 1 : 5;
const DISPATCHERS = [1, 2, 10] as const;
const STALL_TIMEOUT_MS = 30_000;

const log = createLog({ level: 'silent', name: 'bench' });
type Run = { perSecond: number; perRecord: number; requests: number; othersShare: number };

/** A server in place of Temporal: it answers every call with an empty message. */
async function startServer(): Promise<{
  server: Http2Server;
  address: string;
  calls: () => number;
}> {
  let calls = 0;
  const server = createServer();
  server.on('stream', (stream: ServerHttp2Stream, { ':path': path }) => {
    if (String(path).endsWith('/StartWorkflowExecution')) calls += 1;
    stream.on('error', () => undefined);
    stream.resume();
    const headers = { ':status': 200, 'content-type': 'application/grpc' };
    stream.respond(headers, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, address: `127.0.0.1:${port}`, calls: () => calls };
}

async function start(stack: Stack) {
  const mongod = await stack.mongod();
  const { address, server, calls } = await startServer();
  const unusedPort = await stack.freePort();
  const { config } = environmentOf(stack, {
    mongodbUri: mongod.uri,
    temporalAddress: address,
    bankPort: unusedPort,
    apiPort: unusedPort,
  });
  const database = await connectDatabase(config.mongodb, 'bursar-bench');
  await migrate(database.db, migrations);
  const { tenant } = await createRichTenant(config, database, createGroupCommit(database));
  let made = 0;

  /** The transfers that were accepted while Temporal was away. */
  async function refill(): Promise<void> {
    const transfers = database.db.collection<Transfer>('transfers');
    await transfers.deleteMany({});
    const named = { kind: 'found', name: 'ADAEZE OKAFOR', bankName: 'GTBank' } as const;
    const due = Array.from({ length: DUE }, () => {
      const body = { ...transferBody((made += 1)), currency: 'NGN' as const };
      const now = new Date(Date.now() - 60_000);
      const given = { tenant, body, amountMinor: 10_000n, named, provider: 'sandbox-bank', now };
      return newTransfer({ ...given, startWithinMs: 0 });
    });
    await transfers.insertMany(due, { ordered: false });
  }

  async function measure(count: number): Promise<Run> {
    await refill();
    const processes = await Promise.all(
      Array.from({ length: count }, () => openDispatcher(config)),
    );
    const before = calls();
    const { result: ms, ...cpu } = await measureCpu(
      { bench: process.pid, mongod: mongod.pid },
      async () => {
        const began = performance.now();
        const running = processes.map(({ loop }) => loop.run());
        while (processes.reduce((sum, { started }) => sum + started(), 0) < DUE)
          await new Promise((resolve) => setTimeout(resolve, 1));
        const took = performance.now() - began;
        for (const { loop } of processes) loop.stop();
        await Promise.all(running);
        return took;
      },
    );
    const started = processes.reduce((sum, each) => sum + each.started(), 0);
    for (const each of processes) await each.close();
    const requests = calls() - before;
    return { ...cpu, perSecond: (DUE / ms) * 1_000, perRecord: started / DUE, requests };
  }

  async function close(): Promise<void> {
    await database.client.close();
    server.close();
  }
  return { measure, close, versions: { MongoDB: mongod.version } };
}

/** A dispatcher with connections of its own, as in a worker process. It counts the transfers that it starts. */
async function openDispatcher(config: Config) {
  const database: Database = await connectDatabase(config.mongodb, 'bursar-bench');
  const temporal: Temporal = createTemporal(config.temporal);
  const starter = createTransferStarter(
    starterSettings({
      client: temporal.client,
      startsEagerly: false,
      completionWaiters: createCompletionWaiters(),
      config,
      log,
    }),
  );
  const store = createTransfers(database, createGroupCommit(database), STALL_TIMEOUT_MS);
  let count = 0;
  const transfers = supervisedInGroups<Transfer>(store, {
    groupsOf: starter.groupsOf,
    async start(group) {
      await starter.startGroup(group);
      count += group.length;
    },
  });
  return {
    loop: createDispatcher({ transfers }, log),
    started: () => count,
    async close() {
      await temporal.close();
      await database.client.close();
    },
  };
}

const stack = await openStack();
try {
  const { measure, close, versions } = await start(stack);
  const nameOf = (count: number) => `${count} dispatcher${count === 1 ? '' : 's'}`;
  const subjects = Object.fromEntries(
    DISPATCHERS.map((count) => [nameOf(count), () => measure(count)]),
  );
  await measure(1);
  const results = await interleave(subjects, ROUNDS);
  printMachine(versions, results);
  const of = (count: number, pick: (run: Run) => number) =>
    (results[nameOf(count)] ?? []).map(pick);
  printTable(
    ['', 'transfers started/s', 'starts per transfer', 'transfers per request'],
    DISPATCHERS.map((count) => [
      nameOf(count),
      whole(median(of(count, (run) => run.perSecond))),
      median(of(count, (run) => run.perRecord)).toFixed(2),
      (DUE / median(of(count, (run) => run.requests))).toFixed(1),
    ]),
  );
  printGoals([
    {
      what: 'starts per transfer, 10 dispatchers',
      measured: ratioOf(
        of(10, (run) => run.perRecord),
        of(10, () => 1),
      ),
      goal: { most: 1.05 },
    },
    {
      what: 'started/s, 10 dispatchers over 1, in one Node process',
      measured: ratioOf(
        of(10, (run) => run.perSecond),
        of(1, (run) => run.perSecond),
      ),
      goal: { least: 0.8 },
    },
  ]);
  await close();
} finally {
  await stack.stop();
}
