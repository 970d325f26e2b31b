import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMongoClient } from '../../../src/platform/database/client.js';
import { isDatabaseUnavailable } from '../../../src/platform/database/unavailable.js';
import { sharedEngines } from '../../support/engines.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';

/** More than the buffers at both ends of a connection hold. */
const LARGE = 'x'.repeat(15_000_000);

test('a large write to a database that has stopped reading fails as unavailable instead of hanging', async () => {
  const network = await startTcpProxy(sharedEngines().mongodbUri);
  const client = createMongoClient(network.uri, 'test', { operationLimitMs: 3_000 });
  try {
    const stalled = client.db('test_stalled').collection('large');
    await stalled.findOne();
    network.cut();
    const ended = await stalled.insertOne({ LARGE }).catch((error: unknown) => error);
    expect(ended).toBeInstanceOf(Error);
    expect(isDatabaseUnavailable(ended)).toBe(true);
  } finally {
    network.close();
    await client.close(true);
  }
});

test('a large write whose connection breaks is sent again, and takes effect once', async () => {
  const network = await startTcpProxy(sharedEngines().mongodbUri);
  const client = createMongoClient(network.uri, 'test');
  try {
    const broken = client.db('test_broken').collection(randomUUID());
    await broken.findOne();
    network.cut();
    const inserted = broken.insertOne({ LARGE });
    await sleep(300);
    network.heal();
    await inserted;
    expect(await broken.countDocuments()).toBe(1);
  } finally {
    network.close();
    await client.close(true);
  }
});
