import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { MongoClient } from 'mongodb';
import { createMongoClient } from '../../src/platform/database/client.js';
import { sharedEngines } from './engines.js';
import { processIn } from './processes.js';

/** A service whose processes run on for the next test file that wants one. */
export type SharedService = {
  /** The options with which it was started. Only files with the same ones share it. */
  options: string;
  /** The folder of its data and of the ids of its processes, which global-teardown.ts ends. */
  folder: string;
  /** Its settings; null until its first user has chosen them. */
  env: Record<string, string> | null;
  ports: number[];
};

type Free = SharedService & { _id: string };

const freeIn = (client: MongoClient) => client.db('test_databases').collection<Free>('services');

/**
 * Starting a service takes six seconds of a processor, so files that end none of its processes use one after the other.
 * Returns one with these options that an earlier file has left, or an empty one. Between two files its processes are frozen,
 * because an idle service takes a tenth of a processor.
 */
export async function takeSharedService(wanted: object): Promise<SharedService> {
  const options = JSON.stringify(wanted);
  const free = await withClient((client) =>
    freeIn(client).findOneAndDelete({ folder: inRun(), options }),
  );
  if (free) signalAll(free, 'SIGCONT');
  if (free) return { options, folder: free.folder, env: free.env, ports: free.ports };
  const folder = join(runFolder(), randomUUID());
  mkdirSync(folder);
  return { options, folder, env: null, ports: [] };
}

/** Leaves a service to a later test file. */
export async function leaveSharedService(service: SharedService): Promise<void> {
  signalAll(service, 'SIGSTOP');
  await withClient((client) => freeIn(client).insertOne({ _id: randomUUID(), ...service }));
}

/** Ends the processes of a service that no later file may use. */
export const endSharedService = (service: SharedService) => signalAll(service, 'SIGKILL');

function signalAll({ folder }: SharedService, signal: NodeJS.Signals): void {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.pid'))) {
    const file = join(folder, name);
    const found = processIn(file);
    if (signal === 'SIGKILL') rmSync(file);
    try {
      if (found) process.kill(found.pid, signal);
    } catch {
      // It has ended in this moment.
    }
  }
}

function runFolder(): string {
  const folder = process.env['BURSAR_TEST_SERVICES'];
  if (folder === undefined)
    throw new Error('BURSAR_TEST_SERVICES is not set: run the tests by npm test');
  return folder;
}

/** A MongoDB that outlives the run may know services of earlier runs. */
const inRun = () => ({ $regex: `^${runFolder()}/` });

async function withClient<T>(use: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = createMongoClient(sharedEngines().mongodbUri, 'bursar-test');
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}
