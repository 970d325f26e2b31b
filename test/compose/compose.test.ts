import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { loadConfig } from '../../src/shared/config.js';
import { packageRoot } from '../../src/shared/package-root.js';
import { composeFile, environmentOf, interpolate, readRoot, type Service } from './file.js';
import { composeSchema } from './schema.js';

const file = composeFile();
const services = Object.entries(file.services);
const SECRETS = {
  BURSAR_KEY_PEPPER: 'p'.repeat(64),
  BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
  SANDBOX_BANK_SECRET: 's'.repeat(64),
  POSTGRES_PASSWORD: 'w'.repeat(64),
};
const ours = services.filter(([, { build }]) => build !== undefined);

function serviceOf(name: string): Service {
  const service = file.services[name];
  if (service === undefined) throw new Error(`there is no service ${name}`);
  return service;
}

test('docker-compose.yml is valid and has no key that Compose does not know', () => {
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(composeSchema);
  validate(file);
  expect(validate.errors).toBeNull();
});

test('the schema of docker-compose.yml refuses a misspelt key, an unknown condition, and a health check that is not a text', () => {
  const validate = new Ajv2020({ strict: false }).compile(composeSchema);
  const broken = (change: object) => ({ services: { api: { ...serviceOf('api'), ...change } } });
  expect(validate(broken({}))).toBe(true);
  expect(validate(broken({ enviroment: {} }))).toBe(false);
  expect(validate(broken({ depends_on: { bank: { condition: 'healthy' } } }))).toBe(false);
  expect(
    validate(broken({ healthcheck: { ...serviceOf('api').healthcheck, test: ['CMD', { a: 1 }] } })),
  ).toBe(false);
});

test('docker-compose.yml has every service of a deployment', () => {
  expect(Object.keys(file.services)).toEqual(
    expect.arrayContaining([
      'api',
      'worker',
      'bank',
      'temporal',
      'temporal-ui',
      'postgres',
      'mongo1',
    ]),
  );
  expect(ours.map(([name]) => name).toSorted()).toEqual(['api', 'bank', 'worker']);
});

test.each(services)('the image of %s is pinned to a version', (_, { image }) => {
  expect(image).toMatch(/:v?\d+\.\d+/);
});

test('networks, volumes, configs and dependencies that a service names exist', () => {
  for (const [name, service] of services) {
    const named = {
      networks: service.networks,
      volumes: (service.volumes ?? []).map((mount) => mount.split(':')[0]),
      configs: (service.configs ?? []).map(({ source }) => source),
      services: Object.keys(service.depends_on ?? {}),
    };
    for (const [kind, names] of Object.entries(named)) {
      const known = Object.keys(file[kind as keyof typeof named]);
      expect({
        name,
        kind,
        unknown: names.filter((entry) => !known.includes(String(entry))),
      }).toEqual({
        name,
        kind,
        unknown: [],
      });
    }
  }
});

test('every service that another one waits for has a health check, or ends', () => {
  const waits = services.flatMap(([name, { depends_on = {} }]) =>
    Object.entries(depends_on).map(([needed, { condition }]) => ({ name, needed, condition })),
  );
  const impossible = waits.filter(({ needed, condition }) => {
    const { healthcheck, restart } = serviceOf(needed);
    if (condition === 'service_healthy') return healthcheck === undefined;
    // A service that is always restarted never reaches "completed".
    return condition === 'service_completed_successfully' && !restart.startsWith('on-failure');
  });
  expect(waits.length).toBeGreaterThan(5);
  expect(impossible).toEqual([]);
});

/** The services that are up before this one. */
function before(name: string, path: string[] = []): Set<string> {
  if (path.includes(name)) throw new Error(`a circle: ${[...path, name].join(' → ')}`);
  const needed = Object.keys(serviceOf(name).depends_on ?? {});
  return new Set(needed.flatMap((next) => [next, ...before(next, [...path, name])]));
}

test('services start in the order databases, Temporal and bank, API and worker, without a cycle', () => {
  const startOrder = Object.fromEntries(
    services.map(([name]) => [name, [...before(name)].toSorted()]),
  );
  expect(startOrder['worker']).toEqual(
    ['bank', 'mongo1', 'mongo2', 'mongo3', 'postgres', 'temporal', 'temporal-schema'].toSorted(),
  );
  expect(startOrder['temporal']).toEqual(['postgres', 'temporal-schema']);
  expect(startOrder['api']).toEqual(['bank', 'mongo1', 'mongo2', 'mongo3']);
});

test.each(ours)('%s runs a program of the build', (_, { command = [] }) => {
  const [program, ...args] = command;
  expect(program).toBe('node');
  const script = args.find((arg) => !arg.startsWith('--')) ?? '';
  expect(existsSync(join(packageRoot, script))).toBe(true);
});

/** The names of the zod object of environment variables in the source file that reads them. */
function variablesReadBy(source: string): string[] {
  return [...readRoot(source).matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map((match) => match[1] ?? '');
}

test.each([
  ['api', 'src/shared/config.ts'],
  ['worker', 'src/shared/config.ts'],
  ['bank', 'sandbox-bank/main.ts'],
])('%s gets no variable that %s does not read', (name, source) => {
  const read = variablesReadBy(source);
  expect(read.length).toBeGreaterThan(3);
  const given = Object.keys(serviceOf(name).environment ?? {});
  expect(given.filter((variable) => !read.includes(variable))).toEqual([]);
});

test('the environment of API and worker is a valid configuration', () => {
  const [api, worker] = ['api', 'worker'].map((name) =>
    loadConfig(environmentOf(serviceOf(name), SECRETS)),
  );
  expect(api).toMatchObject({ environment: 'sandbox', http: { host: '0.0.0.0', port: 8080 } });
  // API and worker must agree on everything that they share.
  expect({ ...worker, http: null }).toEqual({ ...api, http: null });
});

test('every address in the environment belongs to a service on a common network', () => {
  const published = {
    MONGODB_URI: 27_017,
    TEMPORAL_ADDRESS: 7233,
    SANDBOX_BANK_URL: 8090,
    SANDBOX_BANK_CALLBACK_URL: 8080,
    SANDBOX_BANK_CARD_CALLBACK_URL: 8080,
  };
  for (const [name, service] of ours) {
    for (const [variable, port] of Object.entries(published)) {
      const value = environmentOf(service, SECRETS)[variable];
      for (const [, host, at] of (value ?? '').matchAll(/([a-z][\w-]*):(\d+)/g)) {
        const shared = serviceOf(host ?? '').networks.filter((net) =>
          service.networks.includes(net),
        );
        expect({ name, variable, at: Number(at), reachable: shared.length > 0 }).toEqual({
          name,
          variable,
          at: port,
          reachable: true,
        });
      }
    }
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
  expect(() => environmentOf(serviceOf('api'), {})).toThrow(/BURSAR_KEY_PEPPER.* is not filled in/);
});

test('databases are on an internal network and publish no port', () => {
  expect(file.networks['data']).toEqual({ internal: true });
  for (const name of ['mongo1', 'mongo2', 'mongo3', 'postgres']) {
    expect(serviceOf(name)).toMatchObject({ networks: ['data'] });
    expect(serviceOf(name)).not.toHaveProperty('ports');
  }
});

/** Runs the health check of the first MongoDB member, as its shell would, on a replica set in this state. */
function checkMongo(set: { initiated: boolean; primary: boolean }): {
  exit: number;
  initiated: object[];
} {
  const script = interpolate(serviceOf('mongo1').healthcheck?.test.at(-1) ?? '', {});
  const initiated: object[] = [];
  let exit = -1;
  runInNewContext(script, {
    rs: {
      status() {
        if (!set.initiated) throw new Error('no replset config has been received');
      },
      initiate: (config: object) => initiated.push(config),
    },
    db: { hello: () => (set.primary ? { primary: 'mongo1:27017' } : {}) },
    quit: (code: number) => (exit = code),
  });
  return { exit, initiated };
}

test('the health check of MongoDB initiates the replica set once, and succeeds with a primary', () => {
  const first = checkMongo({ initiated: false, primary: false });
  expect(first.exit).toBe(1);
  const uri = environmentOf(serviceOf('api'), SECRETS)['MONGODB_URI'] ?? '';
  const [, hosts = '', set] = /^mongodb:\/\/([^/]+)\/\?replicaSet=(\w+)$/.exec(uri) ?? [];
  expect(first.initiated).toEqual([
    expect.objectContaining({
      _id: set,
      members: hosts.split(',').map((host) => expect.objectContaining({ host })),
    }),
  ]);
  expect(serviceOf('mongo1').command).toContain(`--replSet=${set}`);
  expect(checkMongo({ initiated: true, primary: false })).toEqual({ exit: 1, initiated: [] });
  expect(checkMongo({ initiated: true, primary: true })).toEqual({ exit: 0, initiated: [] });
});

test('the image has a pinned base, existing sources, production packages only, and does not run as root', () => {
  const lines = readRoot('Dockerfile').split('\n');
  for (const base of lines.filter((line) => line.startsWith('FROM'))) {
    expect(base).toMatch(/^FROM node:24\.\d+\.\d+-bookworm-slim( AS \w+)?$/);
  }
  const ignored = readRoot('.dockerignore').split('\n');
  for (const line of lines.filter(
    (entry) => entry.startsWith('COPY') && !entry.includes('--from'),
  )) {
    for (const source of line.split(' ').slice(1, -1)) {
      expect({ source, exists: existsSync(join(packageRoot, source)) }).toEqual({
        source,
        exists: true,
      });
      expect(ignored).toContain(`!${source}`);
    }
  }
  const final = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM')));
  expect(final).toContain('USER node');
  expect(final.find((line) => line.startsWith('CMD'))).toBe(
    `CMD ${JSON.stringify(serviceOf('api').command).replaceAll(',', ', ')}`,
  );
  expect(lines.join('\n')).toContain('npm prune --omit=dev');
});

test.each(['docker-compose.yml', 'README.md'])(
  'the instructions of %s let nobody else read the .env that they write',
  (file) => {
    const text = readRoot(file);
    const before = text.slice(0, text.indexOf('> .env'));
    expect(before.slice(-300)).toMatch(/umask 077/);
  },
);
