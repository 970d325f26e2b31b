import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { makeSecrets } from '../../devstack/secured/compose.js';
import { unprotectedConnections } from '../../src/shared/live-connections.js';
import { composeFile, environmentOf, interpolate, readRoot, type Service } from './file.js';
import { configIn, newSecrets, PASSWORDS, SECRETS } from './secrets.js';

const file = composeFile();
const services = Object.entries(file.services);
const ours = services.filter(([, { build }]) => build !== undefined);

function serviceOf(name: string): Service {
  const service = file.services[name];
  if (service === undefined) throw new Error(`there is no service ${name}`);
  return service;
}

let made: string;
beforeAll(() => (made = newSecrets()));
afterAll(() => rmSync(made, { recursive: true }));

const configOf = (name: string) => configIn(made, serviceOf(name));

test('every connection to MongoDB and Temporal is encrypted and authenticated, as live demands', () => {
  for (const name of ['api', 'worker', 'operator']) {
    const { mongodb, temporal } = configOf(name);
    expect(unprotectedConnections(mongodb.uri, temporal.connection)).toEqual([]);
    expect(temporal.connection).toMatchObject({ tls: { clientCertPair: {} } });
  }
  const { mongodb, temporal } = configOf('database-migrate');
  expect(unprotectedConnections(mongodb.uri, temporal.connection)).toEqual([]);
  const admin = environmentOf(serviceOf('database-users'), SECRETS)['MONGODB_URI'] ?? '';
  const local = { address: 'localhost:7233' };
  expect(unprotectedConnections(admin, local)).toEqual([]);
  expect(unprotectedConnections('mongodb://mongo1:27017/', local)).toHaveLength(2);
});

test('each process signs in to MongoDB as a user of its own, and gets no password of another one', () => {
  const given = Object.fromEntries(
    ours.map(([name, service]) => {
      const texts = Object.values(environmentOf(service, SECRETS)).join('\n');
      const passwords = Object.entries(PASSWORDS).filter(([, value]) => texts.includes(value));
      return [name, passwords.map(([variable]) => variable.replace('BURSAR_DATABASE_', ''))];
    }),
  );
  expect(given).toEqual({
    api: ['PASSWORD_SERVICE'],
    worker: ['PASSWORD_SERVICE'],
    operator: ['PASSWORD_OPERATOR'],
    'database-migrate': ['PASSWORD_MIGRATE'],
    'database-users': [
      'MONGODB_ADMIN_PASSWORD',
      'PASSWORD_MIGRATE',
      'PASSWORD_SERVICE',
      'PASSWORD_OPERATOR',
      'PASSWORD_READ_ONLY',
    ],
    bank: [],
  });
});

test('each container gets only the files with secrets that it needs', () => {
  const files = (name: string) => serviceOf(name).secrets ?? [];
  expect(files('bank')).toEqual([]);
  expect(files('postgres')).toEqual([]);
  for (const [name] of services) {
    const foreign = files(name).filter((file) => {
      const owner = file.replace(/[.-](pem|crt|key|keyfile|htpasswd)$/, '');
      const isMongodb = name.startsWith('mongo');
      const isBursar = ours.some(([own]) => own === name) || name === 'temporal-tools';
      return !(
        file === 'ca.pem' ||
        owner === (isMongodb ? 'mongodb' : isBursar ? 'bursar' : name.replace('-sign-in', ''))
      );
    });
    expect({ name, foreign }).toEqual({ name, foreign: [] });
  }
});

test('docker-compose.yml contains no secret; each has to be set', () => {
  const secret = /SECRET|PASSWORD|PWD|PEPPER|SEALING/;
  for (const [name, { environment = {} }] of services) {
    for (const [variable, value] of Object.entries(environment)) {
      if (!secret.test(variable)) continue;
      expect({ name, variable, value }).toMatchObject({
        value: expect.stringMatching(/^\$\{\w+:\?[^}]+\}$/),
      });
    }
  }
  for (const name of ['BURSAR_KEY_PEPPER', 'BURSAR_DATABASE_PASSWORD_SERVICE']) {
    const others = Object.fromEntries(Object.entries(SECRETS).filter(([each]) => each !== name));
    expect(() => environmentOf(serviceOf('api'), others)).toThrow(
      new RegExp(`${name}.* is not filled in`),
    );
  }
});

type MongoState = { initiated: boolean; primary: boolean; hasAdmin: boolean };

/** Runs the health check of the first MongoDB member, as its shell would, on a replica set in this state. */
function checkMongo(state: MongoState) {
  const script = interpolate(serviceOf('mongo1').healthcheck?.test.at(-1) ?? '', {});
  const initiated: object[] = [];
  const users: object[] = [];
  let exit = -1;
  const isAdmin = (name: string, password: string) => {
    if (!state.hasAdmin && users.length === 0) throw new Error('Authentication failed');
    return { ok: name === 'admin' && password === PASSWORDS.MONGODB_ADMIN_PASSWORD ? 1 : 0 };
  };
  const admin = { auth: isAdmin, createUser: (user: object) => users.push(user) };
  runInNewContext(script, {
    process: { env: environmentOf(serviceOf('mongo1'), SECRETS) },
    rs: { initiate: (config: object) => initiated.push(config) },
    db: {
      hello: () => ({
        ...(state.initiated && { setName: 'bursar' }),
        ...(state.primary && { primary: 'mongo1:27017', isWritablePrimary: true }),
      }),
      getSiblingDB: () => admin,
    },
    quit: (code: number) => (exit = code),
  });
  return { exit, initiated, users };
}

test('the health check of MongoDB initiates the set once, makes the administrator once, and succeeds with both', () => {
  const first = checkMongo({ initiated: false, primary: false, hasAdmin: false });
  expect(first).toMatchObject({ exit: 1, users: [] });
  const uri = environmentOf(serviceOf('api'), SECRETS)['MONGODB_URI'] ?? '';
  const [, hosts = '', set] = /^mongodb:\/\/[^@]+@([^/]+)\/\?replicaSet=(\w+)&/.exec(uri) ?? [];
  expect(first.initiated).toEqual([
    expect.objectContaining({
      _id: set,
      members: hosts.split(',').map((host) => expect.objectContaining({ host })),
    }),
  ]);
  expect(serviceOf('mongo1').command).toContain(`--replSet=${set}`);
  const nothing = { initiated: [], users: [] };
  expect(checkMongo({ initiated: true, primary: false, hasAdmin: false })).toEqual({
    ...nothing,
    exit: 1,
  });
  expect(checkMongo({ initiated: true, primary: true, hasAdmin: false })).toEqual({
    exit: 0,
    initiated: [],
    users: [{ user: 'admin', pwd: PASSWORDS.MONGODB_ADMIN_PASSWORD, roles: ['root'] }],
  });
  expect(checkMongo({ initiated: true, primary: true, hasAdmin: true })).toEqual({
    ...nothing,
    exit: 0,
  });
});

test('the script makes every secret of docker-compose.yml once, and lets nobody else read them', () => {
  const asked = [...readRoot('docker-compose.yml').matchAll(/\$\{(\w+):\?/g)];
  const env = readFileSync(join(made, '.env'), 'utf8');
  const names = [...env.matchAll(/^(\w+)=\S{40,}$/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining([...new Set(asked.map(([, name]) => name))]));
  const files = Object.values(file.secrets).map((secret) => join(made, secret.file));
  expect(files.filter((path) => !existsSync(path))).toEqual([]);
  const modeOf = (path: string) => statSync(join(made, path)).mode & 0o777;
  expect({ env: modeOf('.env'), folder: modeOf('.compose') }).toEqual({
    env: 0o600,
    folder: 0o700,
  });

  const before = contentsOf(made);
  makeSecrets(made);
  expect(contentsOf(made)).toEqual(before);
  const authority = ['verify', '-CAfile', join(made, '.compose', 'ca.pem')];
  for (const name of ['mongodb', 'temporal', 'bursar', 'temporal-ui']) {
    const certificate = join(made, '.compose', `${name}.crt`);
    expect(execFileSync('openssl', [...authority, certificate], { encoding: 'utf8' })).toMatch(
      /OK/,
    );
  }
});

const contentsOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'utf8')]);

test('no secret of docker-compose.yml is committed or sent to the image', () => {
  expect(readRoot('.gitignore').split('\n')).toEqual(expect.arrayContaining(['.env', '.compose']));
  expect(readRoot('.dockerignore')).not.toContain('compose');
});

test.each(['docker-compose.yml', 'README.md'])(
  'the instructions of %s make the secrets by the script',
  (name) => {
    const text = readRoot(name);
    const before = text.slice(0, text.indexOf('docker compose up'));
    expect(before.slice(-700)).toContain('scripts/compose-secrets.sh');
    expect(text).not.toContain('> .env');
  },
);
