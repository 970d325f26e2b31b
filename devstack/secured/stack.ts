/**
 * Secured engines for `npm run test:engines`: a process of its own that starts a Temporal server on PostgreSQL with mutual TLS
 * and a mongod with TLS and users, prints their settings as one line, and stops them on a signal or when its parent has died.
 */
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { findEngine } from '../find.js';
import { claimPort } from '../ports.js';
import type { Running } from '../processes.js';
import { runUntilStopped, say } from '../temporary-process.js';
import type { TemporaryFolder } from '../temporary-folder.js';
import { makeSecrets } from './compose.js';
import { startSecuredMongod } from './mongod.js';
import { buildTemporal } from './temporal-build.js';
import { startSecuredTemporal } from './temporal.js';

/** The user of tests that make databases of their own: it reads and writes them all, and may do nothing else. */
const TESTER = { user: 'tests', pwd: 'a password of the tests' };

async function main(folder: TemporaryFolder): Promise<void> {
  const programs = await buildTemporal(process.env, say);
  const { binary } = await findEngine('mongod', process.env, say);
  const secrets = makeSecrets(join(folder.path, 'secrets'));
  const logOf = (name: string) => join(folder.path, `${name}.log`);
  const onSpawn = ({ pid }: Running) => folder.note(pid);
  const { port } = await claimPort(28_700);
  const [mongod, temporal] = await Promise.all([
    startSecuredMongod({
      binary,
      folder: folder.path,
      secrets,
      port,
      logFile: logOf('mongod'),
      onSpawn,
    }),
    startSecuredTemporal({ programs, folder: folder.path, secrets, logOf, onSpawn }),
  ]);
  await createTester(mongod.adminUri);
  const { TEMPORAL_ADDRESS: address, ...tls } = temporal;
  console.log(
    JSON.stringify({
      BURSAR_TEST_MONGODB_URI: mongod.uriOf(TESTER.user, TESTER.pwd),
      BURSAR_TEST_MONGODB_ADMIN_URI: mongod.adminUri,
      BURSAR_TEST_TEMPORAL_ADDRESS: address,
      BURSAR_TEST_TEMPORAL_TLS: JSON.stringify(tls),
    }),
  );
}

async function createTester(adminUri: string): Promise<void> {
  const client = new MongoClient(adminUri);
  try {
    const roles = ['readWriteAnyDatabase', 'dbAdminAnyDatabase', 'clusterMonitor'];
    await client.db('admin').command({ createUser: TESTER.user, pwd: TESTER.pwd, roles });
  } finally {
    await client.close();
  }
}

await runUntilStopped(main);
