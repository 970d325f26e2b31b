import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import { loadConfig } from '../../src/shared/config.js';
import { compiled } from '../../src/shared/package-root.js';
import { makeSecrets } from '../../devstack/secured/compose.js';
import { run } from '../support/cli.js';
import { privateSecuredMongod, sharedEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { rollingRestarts, startClients } from '../support/rotation.js';
import { startService, type Service } from '../support/service.js';
import { startTemporalGate } from '../support/temporal-gate.js';

const DATABASE = `rotated_${process.pid}`;
const PASSWORDS = { service: 'the earlier password', service_2: 'the later password' };
/** The roles that no process of the tenants' API has. */
const COMMAND_ROLES = ['migrate', 'operator', 'read_only'] as const;
const API_KEYS = { earlier: 'the earlier API key', later: 'the later API key', tests: 'a key' };

/** Authorities with their certificates: before, after, and one for the tests themselves, which the servers always trust. */
type Authority = 'earlier' | 'later' | 'tests';
let folder: string;
const secrets = {} as Record<Authority, string>;
const of = (authority: Authority, file: string) => join(secrets[authority], file);

/** A file with the certificates of these authorities. */
function trusting(...authorities: Authority[]): string {
  const path = join(folder, `${authorities.join('-')}.pem`);
  writeFileSync(path, authorities.map((each) => readFileSync(of(each, 'ca.pem'))).join(''));
  return path;
}

/** Writes the files that mongod reads: its certificate is by this authority, and it trusts clients of those. */
function serve(authority: Authority, ...trusted: Authority[]): string {
  const served = join(folder, 'served');
  mkdirSync(served, { recursive: true });
  writeFileSync(join(served, 'ca.pem'), readFileSync(trusting(...trusted, 'tests')));
  writeFileSync(join(served, 'mongodb.pem'), readFileSync(of(authority, 'mongodb.pem')));
  return served;
}

const gateOf = (authority: Authority, trusted: Authority[], apiKeys: string[]) => ({
  certificate: of(authority, 'temporal.crt'),
  key: of(authority, 'temporal.key'),
  authorities: trusting(...trusted, 'tests'),
  apiKeys: [...apiKeys, API_KEYS.tests],
});

let mongod: Awaited<ReturnType<typeof privateSecuredMongod>>;
let gate: Awaited<ReturnType<typeof startTemporalGate>>;
let service: Service;
let adminUri: string;

/** The address of MongoDB for a user, with a client's certificate of this authority. */
function uriOf(user: string, password: string, authority: Authority, trusted: string): string {
  const uri = new URL(mongod.uriOf(user, password));
  uri.searchParams.set('tlsCAFile', trusted);
  uri.searchParams.set('tlsCertificateKeyFile', of(authority, 'bursar.pem'));
  return uri.href;
}

/** The settings of TLS and of the API key for Temporal. */
const temporalOf = (authority: Authority, apiKey: string, trusted: string) => ({
  TEMPORAL_TLS: 'true',
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: trusted,
  TEMPORAL_TLS_CLIENT_CERT_PATH: of(authority, 'bursar.crt'),
  TEMPORAL_TLS_CLIENT_KEY_PATH: of(authority, 'bursar.key'),
  TEMPORAL_API_KEY: apiKey,
});

/** The settings of API and worker as one of the two users, with everything else of this authority. */
const settingsOf = (
  user: keyof typeof PASSWORDS,
  authority: Authority,
  ...trusted: Authority[]
) => ({
  MONGODB_URI: uriOf(`${DATABASE}_${user}`, PASSWORDS[user], authority, trusting(...trusted)),
  ...temporalOf(authority, API_KEYS[authority], trusting(...trusted)),
});

const program = compiled('src', 'ops', 'cli', 'main.js');
const databaseUsers = (args: string[], passwords: Record<string, string> = {}) =>
  run(process.execPath, [program, 'database-users', '--json', ...args], {
    MONGODB_URI: adminUri,
    BURSAR_DATABASE: DATABASE,
    ...passwords,
  });

beforeAll(async () => {
  mongod = await privateSecuredMongod((own) => {
    folder = own;
    for (const authority of ['earlier', 'later', 'tests'] as const) {
      secrets[authority] = makeSecrets(join(own, authority));
    }
    const served = serve('earlier', 'earlier');
    for (const file of ['mongodb-keyfile', 'bursar.pem']) {
      copyFileSync(of('tests', file), join(served, file));
    }
    return served;
  });
  const every = trusting('earlier', 'later', 'tests');
  const [admin, password] = [mongod.adminUri]
    .map((uri) => new URL(uri))
    .flatMap((uri) => [decodeURIComponent(uri.username), decodeURIComponent(uri.password)]);
  adminUri = uriOf(String(admin), String(password), 'tests', every);
  gate = await startTemporalGate(
    sharedEngines().temporalAddress,
    gateOf('earlier', ['earlier'], [API_KEYS.earlier]),
  );
  // The stores of the test itself. Its processes get users of their own.
  service = await startService({
    mongodbUri: adminUri,
    temporalAddress: gate.address,
    workers: 0,
    env: { BURSAR_DATABASE: DATABASE, ...temporalOf('tests', API_KEYS.tests, every) },
  });
});
afterAll(async () => {
  await service?.close();
  gate?.close();
  await mongod?.remove();
});

/** mongod reads its files again. Connections that are open go on. */
const reload = () =>
  service.deps.database.client.db('admin').command({ rotateCertificates: 1, message: 'a test' });

/** Connects to MongoDB and signs in. */
async function signIn(uri: string): Promise<void> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 3_000 });
  try {
    await client.db('admin').command({ ping: 1 });
  } finally {
    await client.close();
  }
}

/** Exchanges the user of a role that commands and the operator API sign in as: the second one works before the first is removed. */
async function exchangeUser(role: (typeof COMMAND_ROLES)[number]): Promise<void> {
  const trusted = trusting('earlier', 'later', 'tests');
  const signInAs = (user: string, password: string) =>
    signIn(uriOf(`${DATABASE}_${user}`, password, 'tests', trusted));
  const variable = `BURSAR_DATABASE_PASSWORD_${role.toUpperCase()}`;
  const { service: earlier, service_2: later } = PASSWORDS;
  expect(await databaseUsers([], { [variable]: earlier })).toMatchObject({ code: 0 });
  await signInAs(role, earlier);
  expect(await databaseUsers([], { [`${variable}_2`]: later })).toMatchObject({ code: 0 });
  await signInAs(role, earlier);
  await signInAs(`${role}_2`, later);
  await eventually(`${role} is removed`, async () =>
    (await databaseUsers(['--remove', role])).code === 0 ? true : undefined,
  );
  await signInAs(`${role}_2`, later);
  await expect(signInAs(role, earlier)).rejects.toMatchObject({ codeName: 'AuthenticationFailed' });
}

/** Connects to Temporal and calls it. */
async function callTemporal(settings: Record<string, string>): Promise<void> {
  const { temporal } = loadConfig({ ...service.env, ...settings });
  const connection = await Connection.connect({ ...temporal.connection, connectTimeout: 3_000 });
  try {
    await connection.workflowService.getClusterInfo({});
  } finally {
    await connection.close();
  }
}

test('the users of MongoDB, the API key of Temporal and the certificates of all servers and clients are exchanged while requests go on: none fails, and the old ones work no more', async () => {
  const FIRST = settingsOf('service', 'earlier', 'earlier');
  const SECOND = settingsOf('service_2', 'later', 'earlier', 'later');
  const LAST = settingsOf('service_2', 'later', 'later');
  expect(
    await databaseUsers([], { BURSAR_DATABASE_PASSWORD_SERVICE: PASSWORDS.service }),
  ).toMatchObject({ code: 0 });
  await service.api.stop();
  const started = {
    first: await service.newApi(FIRST, service.api.port),
    second: await service.newApi(FIRST),
    worker: service.newWorker(FIRST),
  };
  await Promise.all(Object.values(started).map((each) => each.start()));
  const tenant = await service.tenant({ balanceMinor: 100_000_000_000 });
  const rolling = rollingRestarts(service, started);
  const clients = startClients(rolling.apis, () => tenant.key);
  const goOn = async () => {
    await clients.turnOver();
    await clients.turnOver();
  };
  await goOn();
  for (const role of COMMAND_ROLES) await exchangeUser(role);
  await goOn();

  // The servers take the old and the new.
  const both: Authority[] = ['earlier', 'later'];
  serve('earlier', ...both);
  await reload();
  gate.use(gateOf('earlier', both, [API_KEYS.earlier, API_KEYS.later]));
  expect(
    await databaseUsers([], { BURSAR_DATABASE_PASSWORD_SERVICE_2: PASSWORDS.service_2 }),
  ).toMatchObject({ code: 0 });
  expect(await databaseUsers(['--remove', 'service'])).toMatchObject({
    code: 1,
    error: expect.stringMatching(/_service is signed in \(connections of bursar-.+: \d+/),
  });
  await rolling.restart(SECOND, goOn);

  // The servers take the new alone.
  serve('later', 'later');
  await reload();
  gate.use(gateOf('later', ['later'], [API_KEYS.later]));
  await eventually('nothing is signed in as the old user', async () =>
    (await databaseUsers(['--remove', 'service'])).code === 0 ? true : undefined,
  );
  await goOn();
  await rolling.restart(LAST, goOn);
  const { made } = clients;
  await tenant.waitFor(String(made.at(-1)?.id), 'completed');
  await clients.stop();
  expect(clients.failed).toEqual([]);
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
  expect(gate.refused()).toBe(0);

  await expect(signIn(LAST.MONGODB_URI)).resolves.toBeUndefined();
  await expect(signIn(settingsOf('service', 'later', 'later').MONGODB_URI)).rejects.toMatchObject({
    codeName: 'AuthenticationFailed',
  });
  await expect(signIn(settingsOf('service_2', 'earlier', 'later').MONGODB_URI)).rejects.toThrow();
  await expect(callTemporal(LAST)).resolves.toBeUndefined();
  const oldKey = { ...LAST, TEMPORAL_API_KEY: API_KEYS.earlier };
  await expect(callTemporal(oldKey)).rejects.toThrow();
  expect(gate.refused()).toBeGreaterThan(0);
  await expect(
    callTemporal(temporalOf('earlier', API_KEYS.later, trusting('later'))),
  ).rejects.toThrow();
});
