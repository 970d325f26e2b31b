import { basename, join } from 'node:path';
import { findEngine } from '../../devstack/find.js';
import { startMongod, type RunningMongod } from '../../devstack/mongod.js';
import { claimPort } from '../../devstack/ports.js';
import type { Running } from '../../devstack/processes.js';
import { makeSecrets } from '../../devstack/secured/compose.js';
import { startSecuredMongod, type SecuredMongod } from '../../devstack/secured/mongod.js';
import { startTemporal, type RunningTemporal } from '../../devstack/temporal.js';
import { createTemporaryFolder } from '../../devstack/temporary-folder.js';
import { logFileOf } from './logs.js';

/** The MongoDB and Temporal that global-setup.ts started for the whole run. */
export function sharedEngines(): { mongodbUri: string; temporalAddress: string; bundle: string } {
  return {
    mongodbUri: fromRun('BURSAR_TEST_MONGODB_URI'),
    temporalAddress: fromRun('BURSAR_TEST_TEMPORAL_ADDRESS'),
    bundle: fromRun('BURSAR_TEST_BUNDLE'),
  };
}

/** The settings of TLS for the Temporal of the run: none, except under `npm run test:engines`. */
export const temporalTls = (): Record<string, string> =>
  JSON.parse(process.env['BURSAR_TEST_TEMPORAL_TLS'] ?? '{}') as Record<string, string>;

function fromRun(variable: string): string {
  const value = process.env[variable];
  if (value === undefined) throw new Error(`${variable} is not set: run the tests by npm test`);
  return value;
}

/** A MongoDB or Temporal that only one test uses. */
export type PrivateEngine<Engine> = Engine & {
  /** Starts it again with the same data and port, after it was stopped or killed. */
  restart(): Promise<Engine>;
  /** The folder of its data. */
  folder: string;
  /** Stops it in any state, and removes its data. */
  remove: () => Promise<void>;
};

/** Arguments of a mongod whose files and journal have every value as it was written. */
const UNCOMPRESSED = [
  ['--wiredTigerCollectionBlockCompressor', 'none'],
  ['--wiredTigerJournalCompressor', 'none'],
  ['--wiredTigerIndexPrefixCompression', 'false'],
].flat();

/** Starts a mongod for one test, which may kill it. `uncompressed`: its files may be searched for a value. */
export async function privateMongod({ uncompressed = false } = {}): Promise<
  PrivateEngine<RunningMongod>
> {
  const { binary } = await findEngine('mongod', process.env, () => {});
  const { port } = await claimPort(28_600);
  return privateEngine((folder, onSpawn) =>
    startMongod({
      binary,
      port,
      dataDir: join(folder, 'mongod'),
      logFile: logFileOf(basename(folder), 'mongod'),
      onSpawn,
      ...(uncompressed && { more: UNCOMPRESSED }),
    }),
  );
}

/** Starts a Temporal with a file for one test, which may kill it. `dynamicConfig`: settings of the server, as `key=value`. */
export async function privateTemporal(
  dynamicConfig: readonly string[] = [],
): Promise<PrivateEngine<RunningTemporal>> {
  const { binary } = await findEngine('temporal', process.env, () => {});
  const { port } = await claimPort(29_600);
  return privateEngine((folder, onSpawn) =>
    startTemporal({
      binary,
      port,
      uiPort: null,
      namespace: 'bursar-sandbox',
      dbFile: join(folder, 'temporal.db'),
      logFile: logFileOf(basename(folder), 'temporal'),
      onSpawn,
      dynamicConfig,
    }),
  );
}

/**
 * The address of a MongoDB with TLS, certificates of clients and users, as its administrator: that of the run, or else one for
 * this test alone.
 */
export async function securedMongod(): Promise<{ adminUri: string; remove: () => Promise<void> }> {
  const adminUri = process.env['BURSAR_TEST_MONGODB_ADMIN_URI'];
  if (adminUri !== undefined) return { adminUri, remove: async () => undefined };
  return privateSecuredMongod((folder) => makeSecrets(join(folder, 'secrets')));
}

/** A MongoDB of one test with TLS and users. Its certificates are in the folder that `secretsIn` makes. */
export async function privateSecuredMongod(
  secretsIn: (folder: string) => string,
): Promise<PrivateEngine<SecuredMongod>> {
  const { binary } = await findEngine('mongod', process.env, () => {});
  const { port } = await claimPort(28_600);
  return privateEngine((folder, onSpawn) =>
    startSecuredMongod({
      binary,
      port,
      folder,
      secrets: secretsIn(folder),
      logFile: logFileOf(basename(folder), 'mongod'),
      onSpawn,
    }),
  );
}

async function privateEngine<Engine>(
  start: (folder: string, onSpawn: (process: Running) => void) => Promise<Engine>,
): Promise<PrivateEngine<Engine>> {
  // If the test is killed before remove(), the next run cleans up.
  const folder = createTemporaryFolder();
  const launch = () => start(folder.path, ({ pid }) => folder.note(pid));
  return { ...(await launch()), folder: folder.path, restart: launch, remove: folder.remove };
}
