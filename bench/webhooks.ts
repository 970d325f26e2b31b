import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { createMongoClient, TRANSACTION_OPTIONS } from '../src/platform/database/client.js';
import { migrate } from '../src/platform/database/migrations.js';
import { migrations } from '../src/composition/migrations.js';
import { loadConfig } from '../src/shared/config.js';
import { createLog } from '../src/shared/log.js';
import { createTemporal } from '../src/platform/temporal/client.js';
import { ensureNamespace } from '../src/platform/temporal/namespace.js';
import type { EventDraft } from '../src/core/webhooks/event.js';
import { createSealing } from '../src/platform/sealing/sealing.js';
import { createWebhooks } from '../src/core/webhooks/index.js';
import { measureCpu } from './cpu.js';
import { environmentOf, openStack } from './stack.js';
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

const ROUNDS = isShort ? 2 : 6;
const EVENTS = isShort ? 300 : 8_000;
/** Written together, as group commit does under load. */
const BATCH = 50;
/** Events of each batch for the endpoint that hangs. */
const HANGING = 2;
/** Batches in flight: the bench offers more than can be delivered. */
const AHEAD = 4;

/** A receiver that answers at once, or never. */
async function receiver(
  answers: boolean,
): Promise<{ server: Server; url: string; count: () => number }> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count += 1;
      if (answers) response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}/`, count: () => count };
}

const DATABASE = 'bench_webhooks';

/**
 * Opens the delivering parts of the service in this process, with two tenants: the endpoint of one answers, the
 * other's hangs. A worker beside it has the workflow of the endpoint that hangs.
 */
async function open() {
  const stack = await openStack();
  const mongod = await stack.mongod();
  const temporalServer = await stack.temporal();
  const port = await stack.freePort();
  const { env: shared } = environmentOf(stack, {
    mongodbUri: mongod.uri,
    temporalAddress: temporalServer.address,
    bankPort: port,
    apiPort: port,
  });
  const env = { ...shared, BURSAR_DATABASE: DATABASE, BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' };
  const config = loadConfig(env);
  const setUp = await Connection.connect({ address: temporalServer.address });
  await ensureNamespace(setUp, config.temporal.namespace, config.environment);
  await setUp.close();
  const client = createMongoClient(mongod.uri, 'bench');
  const database = { client, db: client.db(DATABASE) };
  await migrate(database.db, migrations);
  const temporal = createTemporal(config.temporal);
  const log = createLog({ level: 'error', name: 'bench' });
  const webhooks = createWebhooks({
    database,
    client: temporal.client,
    config,
    sealing: createSealing(config.sealingKeys),
    log,
  });
  const [fast, hanging] = [await receiver(true), await receiver(false)];
  await webhooks.endpoints.add('fast', fast.url);
  await webhooks.endpoints.add('hanging', hanging.url);
  const worker = stack.node('worker', env);
  const isRunning = () => stack.outputOf('worker').includes('worker is running');
  await stack.until('worker', async () => isRunning());
  return {
    fast,
    webhooks,
    client,
    processes: {
      bursar: process.pid,
      worker: worker.pid,
      mongod: mongod.pid,
      temporal: temporalServer.pid,
    },
    /** Deliveries that wait for the endpoint that hangs, and the workflows that are open for them. */
    async open(): Promise<{ waiting: number; workflows: number }> {
      const waiting = { retry_at: { $type: 'date' } };
      const query = "WorkflowType = 'webhookDelivery' AND ExecutionStatus = 'Running'";
      return {
        waiting: await database.db.collection('webhook_deliveries').countDocuments(waiting),
        workflows: (await temporal.client.workflow.count(query)).count,
      };
    },
    versions: { mongod: mongod.version, Temporal: temporalServer.version },
    async close(): Promise<void> {
      for (const { server } of [fast, hanging]) {
        server.closeAllConnections();
        server.close();
      }
      await webhooks.close();
      await temporal.close();
      await client.close();
      await stack.stop();
    },
  };
}

type Bench = Awaited<ReturnType<typeof open>>;

let resources = 0;

function draft(tenant: string): EventDraft {
  resources += 1;
  return {
    tenantId: tenant,
    resource: `trf_${resources}`,
    name: 'transfer.completed',
    sequence: 1,
    at: new Date(),
    data: { id: `trf_${resources}`, amount_minor: 250_000, narration: 'Salary for November' },
  };
}

/** Writes events like group commit, then hands them over for delivery. */
async function write({ webhooks, client }: Bench, drafts: EventDraft[]): Promise<void> {
  const outgoing = await webhooks.outbox.address(drafts);
  await client.withSession(async (session) => {
    session.startTransaction(TRANSACTION_OPTIONS);
    await webhooks.outbox.write(outgoing, session);
    await session.commitTransaction();
  });
  webhooks.outbox.send(outgoing);
}

/**
 * Returns deliveries a second to the fast endpoint; `beside` is the number of events for the hanging one in each
 * batch.
 */
async function deliver(bench: Bench, beside: number): Promise<number> {
  const { fast } = bench;
  const before = fast.count();
  const begin = performance.now();
  const fastOnes = BATCH - beside;
  for (let written = 0; written < (EVENTS / BATCH) * fastOnes; written += fastOnes) {
    const names = [
      ...Array<string>(fastOnes).fill('fast'),
      ...Array<string>(beside).fill('hanging'),
    ];
    await write(bench, names.map(draft));
    while (written - (fast.count() - before) > AHEAD * fastOnes) await sleep(1);
  }
  const wanted = (EVENTS / BATCH) * fastOnes;
  while (fast.count() - before < wanted) await sleep(1);
  return wanted / ((performance.now() - begin) / 1000);
}

async function measured(bench: Bench, beside: number) {
  const { result, othersShare } = await measureCpu(bench.processes, () => deliver(bench, beside));
  return { perSecond: result, othersShare };
}

/** Measures how many deliveries a second one process makes to a fast endpoint, and the effect of one that hangs. */
async function main(): Promise<void> {
  const bench = await open();
  await deliver(bench, 0);
  const rates = await interleave(
    { alone: () => measured(bench, 0), beside: () => measured(bench, HANGING) },
    ROUNDS,
  );
  const perSecond = (runs: readonly { perSecond: number }[]) => runs.map((run) => run.perSecond);
  const [alone, beside] = [perSecond(rates.alone), perSecond(rates.beside)];
  printMachine(bench.versions, rates);
  printTable(
    ['deliveries a second to a fast endpoint', 'median'],
    [
      ['alone', whole(median(alone))],
      ['while another hangs', whole(median(beside))],
    ],
  );
  const { waiting, workflows } = await bench.open();
  printTable(
    ['at the end', 'number'],
    [
      ['deliveries that wait for the endpoint that hangs', whole(waiting)],
      ['workflows that are open for them', whole(workflows)],
    ],
  );
  const ratio = ratioOf(beside, alone);
  printGoals([{ what: 'while another hangs ÷ alone', measured: ratio, goal: { least: 0.9 } }]);
  await bench.close();
}

await main();
