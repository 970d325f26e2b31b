import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MongoClient } from 'mongodb';
import { findEngine } from '../../../devstack/find.js';
import { mongodArguments, REPLICA_SET } from '../../../devstack/mongod.js';
import { claimPort } from '../../../devstack/ports.js';
import { launch } from '../../../devstack/processes.js';
import { createTemporaryFolder } from '../../../devstack/temporary-folder.js';
import { eventually } from '../../support/eventually.js';
import { logFileOf } from '../../support/logs.js';

const MEMBERS = [0, 1, 2];

export type Member = { host: string; signal(which: NodeJS.Signals): void; start(): void };
export type ReplicaSet = Awaited<ReturnType<typeof startReplicaSet>>;

/** Starts a replica set of three members on this machine, with MongoDB's default times. */
export async function startReplicaSet() {
  const { binary } = await findEngine('mongod', process.env, () => {});
  const folder = createTemporaryFolder();
  const members: Member[] = [];
  for (const each of MEMBERS) {
    // A claim of a port ends with this process.
    const { port } = await claimPort(28_700);
    const dataDir = join(folder.path, `mongod-${each}`);
    const logFile = logFileOf(basename(folder.path), `${each}-mongod`);
    mkdirSync(dataDir);
    let pid = 0;
    const start = () => {
      ({ pid } = launch({ command: binary, args: mongodArguments({ dataDir, port }), logFile }));
      folder.note(pid);
    };
    start();
    members.push({
      host: `127.0.0.1:${port}`,
      start,
      signal: (which) => void process.kill(pid, which),
    });
  }
  const hosts = members.map(({ host }) => host);

  /** Runs a question on one member, whatever its role in the set. */
  async function withClient<T>(
    host: string,
    question: (client: MongoClient) => Promise<T>,
  ): Promise<T> {
    const limits = { serverSelectionTimeoutMS: 2_000, socketTimeoutMS: 5_000 };
    const client = new MongoClient(`mongodb://${host}/`, { directConnection: true, ...limits });
    try {
      return await question(client);
    } finally {
      await client.close();
    }
  }

  const hello = (host: string) =>
    withClient(host, (client) => client.db('admin').command({ hello: 1 })).catch(() => null);

  async function primary(): Promise<Member> {
    return eventually('there is a primary', async () => {
      const said = await Promise.all(hosts.map(hello));
      return members[said.findIndex((each) => each?.['isWritablePrimary'] === true)];
    });
  }

  try {
    const config = { _id: REPLICA_SET, members: hosts.map((host, _id) => ({ _id, host })) };
    await eventually('the set is initiated', async () => {
      const [first] = hosts as [string];
      const said = await Promise.all(hosts.map(hello));
      if (said.includes(null)) return undefined;
      await withClient(first, (client) => client.db('admin').command({ replSetInitiate: config }));
      return true;
    });
    await primary();
  } catch (error) {
    await folder.remove();
    throw error;
  }

  return {
    uri: `mongodb://${hosts.join()}/?replicaSet=${REPLICA_SET}`,
    members,
    primary,
    /** Waits until all members run, one is the primary, and the others have its data. */
    whole: () =>
      eventually('the set is whole', async () => {
        const { host } = await primary();
        const status = await withClient(host, (c) =>
          c.db('admin').command({ replSetGetStatus: 1 }),
        );
        const states = status['members'].map((one: { stateStr: string }) => one.stateStr);
        return states.toSorted().join() === 'PRIMARY,SECONDARY,SECONDARY' ? true : undefined;
      }),
    remove: folder.remove,
  };
}
