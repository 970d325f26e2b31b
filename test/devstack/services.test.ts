import { loadConfig } from '../../src/shared/config.js';
import { startupBanner } from '../../devstack/startup-banner.js';
import type { DevFile, DataDir } from '../../devstack/data-dir.js';
import {
  addresses,
  claimPorts,
  serviceEnvironment,
  workerEnvironment,
  type Ports,
} from '../../devstack/services.js';

const claim = (port: number) => ({ port, release: () => {} });
const ports: Ports = {
  api: claim(8081),
  operator: claim(8082),
  bank: claim(8091),
  metrics: claim(9466),
  workerMetrics: claim(9467),
  temporal: claim(7234),
  temporalUi: claim(8234),
  mongod: claim(27_018),
};
const secrets = {
  layout: 1 as const,
  key_pepper: 'p'.repeat(43),
  sealing_keys: `dev:${Buffer.alloc(32, 's').toString('base64')}`,
  bank_secret: 'b'.repeat(43),
  demo: null,
};
const dataDir = { path: '/h', bankData: '/h/bank' } as DataDir;
const environment = (env: NodeJS.ProcessEnv) =>
  serviceEnvironment(env, { ports, secrets, home: dataDir });

test('every service gets the ports that were claimed, whatever the environment said', () => {
  expect(environment({ SANDBOX_BANK_URL: 'http://elsewhere', PORT: '8080' })).toMatchObject({
    BURSAR_ENV: 'sandbox',
    PORT: '8081',
    MONGODB_URI: 'mongodb://127.0.0.1:27018/?replicaSet=bursar&directConnection=true',
    TEMPORAL_ADDRESS: '127.0.0.1:7234',
    SANDBOX_BANK_URL: 'http://127.0.0.1:8091',
    SANDBOX_BANK_CALLBACK_URL: 'http://127.0.0.1:8081/api/v1/webhooks/payments/sandbox-bank',
    SANDBOX_BANK_CARD_CALLBACK_URL: 'http://127.0.0.1:8081/api/v1/webhooks/cards/sandbox-bank',
  });
});

test('API and worker serve their metrics on ports of their own', () => {
  const api = environment({ BURSAR_METRICS_PORT: '9464' });
  expect(api['BURSAR_METRICS_PORT']).toBe('9466');
  expect(workerEnvironment(api, ports)).toEqual({ ...api, BURSAR_METRICS_PORT: '9467' });
});

test('settings of the user win over the defaults for a person at the terminal', () => {
  expect(environment({})).toMatchObject({ BURSAR_ATTENTION_AFTER_MS: '60000' });
  expect(
    environment({ BURSAR_ATTENTION_AFTER_MS: '5', SANDBOX_BANK_DEDUPLICATE: 'false' }),
  ).toMatchObject({
    BURSAR_ATTENTION_AFTER_MS: '5',
    SANDBOX_BANK_DEDUPLICATE: 'false',
  });
});

test('HOST as shells set it, the name of the machine, is not listened on; BURSAR_HOST is', () => {
  const host = (env: NodeJS.ProcessEnv) => loadConfig(environment(env)).http.host;
  expect(host({ HOST: 'my-laptop' })).toBe('127.0.0.1');
  expect(host({ HOST: 'my-laptop', BURSAR_HOST: '0.0.0.0' })).toBe('0.0.0.0');
});

test("the user's engines are used where they are, and no port is taken for them", async () => {
  const env = { MONGODB_URI: 'mongodb://db/?replicaSet=rs', TEMPORAL_ADDRESS: 'temporal:7233' };
  const claimed = await claimPorts(env);
  expect(claimed).toMatchObject({ mongod: null, temporal: null, temporalUi: null });
  expect(addresses(env, claimed)).toEqual({
    mongodbUri: 'mongodb://db/?replicaSet=rs',
    temporalAddress: 'temporal:7233',
    namespace: 'bursar-sandbox',
  });
  claimed.api.release();
  claimed.bank.release();
  claimed.metrics.release();
  claimed.workerMetrics.release();
});

test.each(['http', '0', '70000', '8080.5'])('PORT=%s is refused', async (PORT) => {
  await expect(claimPorts({ PORT })).rejects.toThrow(`PORT=${PORT} is not a port`);
});

test('the printed request is one that a shell takes as it is, and a mongod out of support is named', () => {
  const dev: DevFile = {
    api_url: 'http://127.0.0.1:8081',
    docs_url: 'http://127.0.0.1:8081/docs',
    operator_url: 'http://127.0.0.1:8082',
    temporal_ui_url: 'http://127.0.0.1:8234',
    temporal_address: '127.0.0.1:7234',
    temporal_namespace: 'bursar-sandbox',
    mongodb_uri: 'mongodb://127.0.0.1:27018/',
    sandbox_bank_url: 'http://127.0.0.1:8091',
    metrics_url: 'http://127.0.0.1:9464/metrics',
    worker_metrics_url: 'http://127.0.0.1:9465/metrics',
    tenant: 'ten_1',
    keys: { secret: 'sk_sandbox_x', public: 'pk_sandbox_x' },
    operators: { operator: 'op_sandbox_x', approver: 'op_sandbox_y' },
    pids: { api: 1, worker: 2, bank: 3, temporal: 4, mongod: 5 },
  };
  const text = startupBanner(dev, '/h', { colours: false, mongod: '6.0.5' });
  const request = /^curl [^]*?-d '(.*)'$/m.exec(text);
  expect(JSON.parse(request?.[1] ?? '')).toEqual({
    amount_minor: 250_000,
    recipient_account: '0123456789',
    recipient_bank_code: '058',
    narration: 'My first transfer',
  });
  expect(text).toContain("-H 'Authorization: Bearer sk_sandbox_x'");
  expect(text).not.toContain('\u001B');
  expect(text).toContain('\n  mongod 6.0.5 is out of support: for development only.\n');
  for (const mongod of ['7.0.28', '8.0.17', null]) {
    expect(startupBanner(dev, '/h', { colours: false, mongod })).not.toContain('out of support');
  }
  expect(
    startupBanner({ ...dev, temporal_ui_url: null }, '/h', { colours: true, mongod: null }),
  ).toContain('127.0.0.1:7234');
});
