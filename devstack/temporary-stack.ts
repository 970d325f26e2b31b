/**
 * Engines for tests and benches that end with their user: a process of its own that starts both in a temporary
 * folder, prints `{"mongodb_uri", "temporal_address"}` as one line, and stops them on a signal or when its parent has
 * died. Their logs are removed too, unless the argument names a folder for them.
 */
import { join } from 'node:path';
import { findEngine } from './find.js';
import { startMongod } from './mongod.js';
import { claimPort } from './ports.js';
import type { Running } from './processes.js';
import { startTemporal } from './temporal.js';
import { runUntilStopped, say } from './temporary-process.js';
import type { TemporaryFolder } from './temporary-folder.js';

async function main(folder: TemporaryFolder): Promise<void> {
  const logs = process.argv[2] ?? folder.path;
  const [mongod, temporal] = await Promise.all([
    findEngine('mongod', process.env, say),
    findEngine('temporal', process.env, say),
  ]);
  // Away from the default ports, which belong to a copy in use.
  const mongodPort = await claimPort(28_500);
  const temporalPort = await claimPort(29_500);
  const onSpawn = ({ pid }: Running) => folder.note(pid);
  const [{ uri }, { address }] = await Promise.all([
    startMongod({
      binary: mongod.binary,
      dataDir: join(folder.path, 'mongod'),
      port: mongodPort.port,
      logFile: join(logs, 'mongod.log'),
      onSpawn,
    }),
    startTemporal({
      binary: temporal.binary,
      dbFile: null,
      port: temporalPort.port,
      uiPort: null,
      namespace: 'bursar-sandbox',
      logFile: join(logs, 'temporal.log'),
      onSpawn,
    }),
  ]);
  console.log(JSON.stringify({ mongodb_uri: uri, temporal_address: address }));
}

await runUntilStopped(main);
