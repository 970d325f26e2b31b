import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CONFIG_VARIABLES } from '../../src/shared/config.js';
import { packageRoot } from '../../src/shared/package-root.js';
import { composeFile, environmentOf, readRoot, type Service } from './file.js';
import { composeSchema } from './schema.js';
import { configIn, newSecrets, SECRETS } from './secrets.js';

const file = composeFile();
const services = Object.entries(file.services);
let made: string;
beforeAll(() => (made = newSecrets()));
afterAll(() => rmSync(made, { recursive: true }));

const configOf = (name: string) => configIn(made, serviceOf(name));

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
  expect(ours.map(([name]) => name).toSorted()).toEqual([
    'api',
    'bank',
    'database-migrate',
    'database-users',
    'operator',
    'worker',
  ]);
});

test.each(services)('the image of %s is pinned to a version', (_, { image }) => {
  expect(image).toMatch(/:v?\d+\.\d+/);
});

test('every image that we do not build has a digest', () => {
  const bases = [...readRoot('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, base]) =>
    String(base),
  );
  const used = services
    .filter(([, { build }]) => build === undefined)
    .map(([, { image }]) => image);
  const without = [...bases, ...used].filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image));
  expect(without).toEqual([]);
});

test('networks, volumes, configs and dependencies that a service names exist', () => {
  for (const [name, service] of services) {
    const named = {
      networks: service.networks,
      volumes: (service.volumes ?? []).map((mount) => mount.split(':')[0]),
      configs: (service.configs ?? []).map(({ source }) => source),
      secrets: service.secrets ?? [],
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

const DATABASE_FIRST = ['bank', 'database-migrate', 'database-users', 'mongo1', 'mongo2', 'mongo3'];

test('services start in the order databases, Temporal and bank, API and worker, without a cycle', () => {
  const startOrder = Object.fromEntries(
    services.map(([name]) => [name, [...before(name)].toSorted()]),
  );
  expect(startOrder['worker']).toEqual(
    [...DATABASE_FIRST, 'postgres', 'temporal', 'temporal-schema'].toSorted(),
  );
  expect(startOrder['temporal']).toEqual(['postgres', 'temporal-schema']);
  expect(startOrder['api']).toEqual(DATABASE_FIRST);
  expect(startOrder['operator']).toEqual(DATABASE_FIRST);
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

/** The variables of TLS that @temporalio/envconfig reads; docs/deploying.md lists them. */
const TEMPORAL_TLS = [
  'TEMPORAL_TLS',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
];

test.each([
  ['api', 'src/shared/settings.ts'],
  ['operator', 'src/shared/settings.ts'],
  ['worker', 'src/shared/settings.ts'],
  ['database-migrate', 'src/shared/settings.ts'],
  ['bank', 'sandbox-bank/main.ts'],
])('%s gets no variable that %s does not read', (name, source) => {
  const read = name === 'bank' ? variablesReadBy(source) : [...CONFIG_VARIABLES, ...TEMPORAL_TLS];
  expect(read.length).toBeGreaterThan(3);
  const given = Object.keys(serviceOf(name).environment ?? {});
  expect(given.filter((variable) => !read.includes(variable))).toEqual([]);
});

test('the environment of API and worker is a valid configuration', () => {
  const [api, worker, operator] = ['api', 'worker', 'operator'].map((name) => configOf(name));
  expect(api).toMatchObject({ environment: 'sandbox', http: { host: '0.0.0.0', port: 8080 } });
  // API and worker must agree on everything that they share.
  expect({ ...worker, http: null }).toEqual({ ...api, http: null });
  const own = { http: null, operators: null, mongodb: null };
  expect({ ...operator, ...own }).toEqual({ ...api, ...own });
  expect(operator).toMatchObject({ operators: { host: '127.0.0.1', port: 8081 } });
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

test('each engine is on an internal network of its own, without a published port, and the bank reaches none', () => {
  const members = Object.fromEntries(
    Object.keys(file.networks).map((network) => [
      network,
      services.filter(([, { networks }]) => networks.includes(network)).map(([name]) => name),
    ]),
  );
  const clients = ['api', 'operator', 'worker'];
  expect(members).toEqual({
    default: [...clients, 'bank'],
    mongodb: [...clients, 'database-users', 'database-migrate', 'mongo1', 'mongo2', 'mongo3'],
    temporal: [...clients, 'temporal', 'temporal-ui', 'temporal-tools'],
    postgres: ['temporal', 'temporal-schema', 'postgres'],
    'temporal-ui': ['temporal-ui', 'temporal-ui-sign-in'],
    'sign-in': ['temporal-ui-sign-in'],
  });
  const open = Object.entries(file.networks).filter(([, network]) => network?.internal !== true);
  expect(open.map(([name]) => name)).toEqual(['default', 'sign-in']);
  const publishing = services.filter(([, { ports }]) => ports !== undefined);
  expect(publishing.map(([name]) => name)).toEqual(['api', 'bank', 'temporal-ui-sign-in']);
});

test('every container runs without capabilities and new privileges, and read-only where its image permits it', () => {
  for (const [name, service] of services) {
    expect({ name, ...service }).toMatchObject({
      name,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  }
  const writing = services.filter(([, service]) => service.read_only !== true);
  const images = new Set(writing.map(([, { image }]) => image.replace(/:.*/, '')));
  // The file says why.
  expect([...images].toSorted()).toEqual([
    'temporalio/admin-tools',
    'temporalio/server',
    'temporalio/ui',
  ]);
});

test('nobody reaches the Temporal UI without its sign-in', () => {
  expect(serviceOf('temporal-ui')).not.toHaveProperty('ports');
  const proxy = readRoot(file.configs['temporal-ui-sign-in']?.file ?? '');
  const server = proxy.slice(proxy.indexOf('server {'));
  expect(server.slice(0, server.indexOf('location'))).toMatch(
    /auth_basic '.+';\s+auth_basic_user_file \/run\/secrets\/temporal-ui\.htpasswd;/,
  );
  expect(proxy).not.toMatch(/auth_basic\s+off|satisfy/);
});

test('the image has a pinned base, existing sources, production packages only, and does not run as root', () => {
  const lines = readRoot('Dockerfile').split('\n');
  for (const base of lines.filter((line) => line.startsWith('FROM'))) {
    expect(base).toMatch(/^FROM node:24\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}( AS \w+)?$/);
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
