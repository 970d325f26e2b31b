import { copyFileSync, chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, type Document } from 'mongodb';
import { mongodArguments, REPLICA_SET } from '../mongod.js';
import { launch, readFrom, type Running } from '../processes.js';
import { composeService } from './compose.js';

/** A running mongod that wants TLS, a certificate of the client and a user. */
export type SecuredMongod = Running & {
  /** The address as a user of the database `admin`. */
  uriOf: (user: string, password: string) => string;
  /** The address as the administrator. */
  adminUri: string;
};

type Settings = {
  binary: string;
  folder: string;
  /** The folder of certificates that `makeSecrets` has made. */
  secrets: string;
  port: number;
  logFile: string;
  onSpawn?: (process: Running) => void;
};

const READY_WITHIN_MS = 60_000;
const ADMIN = 'an administrator of the tests';

/**
 * Starts a mongod with the arguments of docker-compose.yml for TLS and the key file, as a replica set of one. Initiates the
 * set and creates the administrator as a member of docker-compose.yml does: from this machine, while there is no user.
 */
export async function startSecuredMongod(settings: Settings): Promise<SecuredMongod> {
  const { binary, folder, secrets, port, logFile } = settings;
  const dataDir = join(folder, 'secured-mongod');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const keyFile = join(folder, 'mongodb-keyfile');
  copyFileSync(join(secrets, 'mongodb-keyfile'), keyFile);
  chmodSync(keyFile, 0o400);
  const args = [...mongodArguments({ dataDir, port }), ...composeSecurity(secrets, keyFile)];
  const mongod = launch({ command: binary, args, logFile });
  settings.onSpawn?.(mongod);
  const uriOf = (user: string | null, password = '') => {
    const query = new URLSearchParams({
      replicaSet: REPLICA_SET,
      directConnection: 'true',
      tls: 'true',
      tlsCAFile: join(secrets, 'ca.pem'),
      tlsCertificateKeyFile: join(secrets, 'bursar.pem'),
      ...(user !== null && { authSource: 'admin' }),
    });
    const signIn = user === null ? '' : `${[user, password].map(encodeURIComponent).join(':')}@`;
    return `mongodb://${signIn}127.0.0.1:${port}/?${query.toString()}`;
  };
  try {
    await setUp(mongod, uriOf(null).replace(`replicaSet=${REPLICA_SET}&`, ''), port);
  } catch (error) {
    await mongod.stop(1_000);
    throw new Error(`mongod: ${String(error)}\n${readFrom(logFile, 0).slice(-2_000)}`, {
      cause: error,
    });
  }
  return { ...mongod, uriOf, adminUri: uriOf('admin', ADMIN) };
}

/** The arguments of docker-compose.yml that concern TLS and the key file, with paths of this machine. */
function composeSecurity(secrets: string, keyFile: string): string[] {
  const command = composeService('mongo1').command ?? [];
  const security = command.filter((arg) => /^--(tls|keyFile)/.test(arg));
  if (security.length !== 4) throw new Error('docker-compose.yml: mongod is not secured');
  return security.map((arg) =>
    arg.replace('/tmp/keyfile', keyFile).replace('/run/secrets', secrets),
  );
}

/** Repeats each step until the next one is possible: a member answers, is initiated, is primary, has its administrator. */
async function setUp(mongod: Running, uri: string, port: number): Promise<void> {
  let last: unknown = 'it did not answer';
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end; await sleep(50)) {
    if (mongod.hasEnded()) throw new Error((await mongod.ended).reason);
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: 1_000, maxPoolSize: 1 });
    try {
      await client.connect();
      const admin = client.db('admin');
      const hello: Document = await admin.command({ hello: 1 });
      if (hello['setName'] === undefined) {
        const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
        await admin.command({ replSetInitiate: { _id: REPLICA_SET, members } });
      } else if (hello['isWritablePrimary'] === true) {
        await admin.command({ createUser: 'admin', pwd: ADMIN, roles: ['root'] });
        return;
      }
    } catch (error) {
      last = error;
    } finally {
      await client.close();
    }
  }
  throw new Error(`was not ready in time: ${String(last)}`);
}
