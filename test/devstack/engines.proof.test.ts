import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import { findEngine } from '../../devstack/find.js';
import { startMongod } from '../../devstack/mongod.js';
import { claimPort } from '../../devstack/ports.js';
import { privateMongod, privateTemporal, sharedEngines } from '../support/engines.js';
import { temporaryFolder } from './support.js';

const root = temporaryFolder();

async function withMongo<T>(uri: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

const notes = (client: MongoClient) => client.db('engines').collection<{ note: string }>('notes');

test('mongod accepts transactions, and ends those that a killed process left open', async () => {
  await withMongo(sharedEngines().mongodbUri, async (client) => {
    const session = client.startSession();
    await session.withTransaction(async () => {
      await notes(client).insertOne({ note: 'in a transaction' }, { session });
    });
    await session.endSession();
    const limit = await client
      .db('admin')
      .command({ getParameter: 1, transactionLifetimeLimitSeconds: 1 });
    expect(limit['transactionLifetimeLimitSeconds']).toBe(3);
    await client.db('engines').dropDatabase();
  });
});

test('mongod logs no operation for being slow: it would write the documents, too', async () => {
  await withMongo(sharedEngines().mongodbUri, async (client) => {
    const { was, slowms } = await client.db('admin').command({ profile: -1 });
    expect({ was, slowms }).toEqual({ was: 0, slowms: 2 ** 31 - 1 });
  });
});

test('mongod that was killed comes back with what it had acknowledged', async () => {
  const mongod = await privateMongod();
  try {
    const journaled = { writeConcern: { w: 'majority', j: true } } as const;
    await withMongo(mongod.uri, (client) => notes(client).insertOne({ note: 'kept' }, journaled));
    process.kill(mongod.pid, 'SIGKILL');
    expect(await mongod.ended).toEqual({ reason: 'was ended by SIGKILL', self: false });
    const { uri } = await mongod.restart();
    expect(await withMongo(uri, (client) => notes(client).countDocuments({ note: 'kept' }))).toBe(
      1,
    );
  } finally {
    await mongod.remove();
  }
});

test('mongod becomes primary with the data of another port', async () => {
  const { binary } = await findEngine('mongod', process.env, () => {});
  const start = async () => {
    const { port, release } = await claimPort(28_700);
    const [dataDir, logFile] = [join(root, 'moved'), join(root, 'moved.log')];
    return { port, release, mongod: await startMongod({ binary, port, dataDir, logFile }) };
  };
  const first = await start();
  await withMongo(first.mongod.uri, (client) => notes(client).insertOne({ note: 'moved' }));
  await first.mongod.stop();
  // Still claimed: the second one has to take another port.
  const second = await start();
  try {
    expect(second.port).not.toBe(first.port);
    const found = await withMongo(second.mongod.uri, (client) => notes(client).findOne({}));
    expect(found).toMatchObject({ note: 'moved' });
  } finally {
    await second.mongod.stop();
    first.release();
    second.release();
  }
});

test("a start never takes another one's mongod for its own", async () => {
  const mongod = await privateMongod();
  try {
    const { binary } = await findEngine('mongod', process.env, () => {});
    const port = Number(new URL(mongod.uri).port);
    const [dataDir, logFile] = [join(root, 'late'), join(root, 'late.log')];
    await expect(startMongod({ binary, port, dataDir, logFile })).rejects.toThrow(
      /mongod exited with 48[^]*Address already in use[^]*late\.log/,
    );
  } finally {
    await mongod.remove();
  }
});

test('Temporal that was killed comes back with its workflows and search attributes', async () => {
  const temporal = await privateTemporal();
  const names = ['TenantId', 'Provider', 'Reference', 'AmountMinor', 'NeedsAttention'];
  const inspect = async () => {
    const connection = await Connection.connect({ address: temporal.address });
    const client = new Client({ connection, namespace: 'bursar-sandbox' });
    return { connection, client };
  };
  try {
    const before = await inspect();
    await before.client.workflow.start('nobody-runs-it', { taskQueue: 'none', workflowId: 'kept' });
    await before.connection.close();
    process.kill(temporal.pid, 'SIGKILL');
    await temporal.ended;
    await temporal.restart();

    const { connection, client } = await inspect();
    expect((await client.workflow.getHandle('kept').describe()).status.name).toBe('RUNNING');
    const attributes = await connection.operatorService.listSearchAttributes({
      namespace: 'bursar-sandbox',
    });
    expect(Object.keys(attributes.customAttributes)).toEqual(expect.arrayContaining(names));
    await connection.close();
  } finally {
    await temporal.remove();
  }
});
