import { audits } from '../../src/composition/capabilities.js';
import { loadConfig } from '../../src/shared/config.js';
import { createDeps, type Deps } from '../../src/composition/deps.js';
import { compiled } from '../../src/shared/package-root.js';
import { auditLedger } from '../../src/core/ledger/audit.js';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { privateMongod, privateTemporal } from '../support/engines.js';
import { answers, type ManagedProcess } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { apiClient, createTenant, transferBody, type TestTenant } from '../support/tenant.js';

/** The names of a deployment that sets none. */
const DEFAULTS = {
  BURSAR_DATABASE: 'bursar_sandbox',
  TEMPORAL_NAMESPACE: 'bursar-sandbox',
  BURSAR_TASK_QUEUE: 'bursar',
};
const API = compiled('src', 'main.js');
const WORKER = compiled('worker', 'main.js');
const workerRuns = (output: string) => output.includes('worker is running');

let mongod: Awaited<ReturnType<typeof privateMongod>>;
let temporal: Awaited<ReturnType<typeof privateTemporal>>;
/** The service in the sandbox; a second one runs in live on the same MongoDB and Temporal. */
let service: Service;
let liveEnv: Record<string, string>;
let liveDeps: Deps;
let sandbox: TestTenant;
let live: TestTenant;

beforeAll(async () => {
  [mongod, temporal] = await Promise.all([privateMongod(), privateTemporal()]);
  const engines = { mongodbUri: mongod.uri, temporalAddress: temporal.address };
  service = await startService({ ...engines, env: DEFAULTS });
  const port = await service.deadPort();
  const url = `http://127.0.0.1:${port}`;
  const unnamed = Object.entries(service.env).filter(([name]) => !(name in DEFAULTS));
  const environment = {
    BURSAR_ENV: 'live',
    BURSAR_LIVE_REHEARSAL: 'true',
    BURSAR_PROVIDER_CARDS: 'none',
    PORT: String(port),
  };
  liveEnv = { ...Object.fromEntries(unnamed), ...environment };
  liveDeps = await createDeps(loadConfig({ ...liveEnv, BURSAR_LOG_LEVEL: 'silent' }), 'test');
  await Promise.all([
    service.process(API, liveEnv, answers(`${url}/health/ready`)).start(),
    service.process(WORKER, liveEnv, workerRuns).start(),
  ]);
  sandbox = await service.tenant();
  live = await createTenant(liveDeps, { apiUrl: url });
});

afterAll(async () => {
  await liveDeps?.close();
  await service?.close();
  await Promise.all([mongod?.remove(), temporal?.remove()]);
});

test('a process without configured names uses those of its environment', () => {
  const { TEMPORAL_ADDRESS: _, ...env } = liveEnv;
  expect(loadConfig(env)).toMatchObject({
    mongodb: { database: 'bursar_live' },
    temporal: { namespace: 'bursar-live', taskQueue: DEFAULTS.BURSAR_TASK_QUEUE },
  });
  expect(loadConfig({ ...env, BURSAR_ENV: 'sandbox' })).toMatchObject({
    mongodb: { database: DEFAULTS.BURSAR_DATABASE },
    temporal: { namespace: DEFAULTS.TEMPORAL_NAMESPACE },
  });
});

test('an API key of one environment gets wrong_environment in the other', async () => {
  expect(sandbox.key).toMatch(/^sk_sandbox_/);
  expect(live.key).toMatch(/^sk_live_/);
  for (const crossed of [live.at(service.api.url), apiClient(liveUrl(), sandbox.key)]) {
    const { status, headers, body } = await crossed.call('GET', '/transfers', undefined);
    expect([status, body.error.code]).toEqual([401, 'wrong_environment']);
    expect(headers.get('www-authenticate')).toBe('Bearer');
  }
});

test('the same request to both environments creates a transfer in each, invisible to the other', async () => {
  const body = transferBody();
  const key = { key: 'the same in both' };
  const [one, other] = [await sandbox.transfer(body, key), await live.transfer(body, key)];
  expect([one.status, other.status]).toEqual([201, 201]);
  const [inSandbox, inLive] = [one.body.data.id, other.body.data.id];
  await Promise.all([sandbox.waitFor(inSandbox, 'completed'), live.waitFor(inLive, 'completed')]);
  for (const [at, foreign] of [
    [sandbox, inLive],
    [live, inSandbox],
  ] as const) {
    expect((await at.call('GET', `/transfers/${foreign}`, undefined)).status).toBe(404);
    const list = JSON.parse((await at.call('GET', '/transfers', undefined)).text);
    expect(list.pagination.total).toBe(1);
  }
  for (const [deps, own, foreign] of [
    [service.deps, sandbox.id, live.id],
    [liveDeps, live.id, sandbox.id],
  ] as const) {
    expect((await deps.tenants.get(own))?.id).toBe(own);
    expect(await deps.tenants.get(foreign)).toBeNull();
    expect(await deps.apiKeys.list(foreign)).toEqual([]);
  }
  const workflow = (deps: Deps, id: string) =>
    deps.temporal.client.workflow.getHandle(transferWorkflowId(id)).describe();
  expect((await workflow(liveDeps, inLive)).status.name).toBe('COMPLETED');
  await expect(workflow(liveDeps, inSandbox)).rejects.toThrow('not found');
  await expect(workflow(service.deps, inLive)).rejects.toThrow('not found');
});

test('a process refuses the database and the namespace of the other environment', async () => {
  const port = String(await service.deadPort());
  const refused = async (process: ManagedProcess) => process.start().then(() => 'started', String);
  const api = { ...liveEnv, PORT: port, BURSAR_DATABASE: DEFAULTS.BURSAR_DATABASE };
  expect(await refused(service.process(API, api, () => false))).toContain(
    'The database bursar_sandbox belongs to the sandbox environment',
  );
  const worker = { ...liveEnv, TEMPORAL_NAMESPACE: DEFAULTS.TEMPORAL_NAMESPACE };
  expect(await refused(service.process(WORKER, worker, workerRuns))).toContain(
    'The Temporal namespace bursar-sandbox belongs to the sandbox environment',
  );
});

test('live does not start with the sandbox bank unless it is declared a rehearsal', () => {
  const { BURSAR_LIVE_REHEARSAL: _, BURSAR_PROVIDER_CARDS: __, ...unaware } = liveEnv;
  const named = { ...unaware, BURSAR_PROVIDER_TRANSFERS: 'sandbox-bank' };
  expect(() => loadConfig(named)).toThrow(/BURSAR_PROVIDER_TRANSFERS.*BURSAR_LIVE_REHEARSAL/);
  expect(loadConfig(unaware)).toMatchObject({ providers: { transfers: null }, sandboxBank: null });
  expect(loadConfig(liveEnv)).toMatchObject({ providers: { transfers: 'sandbox-bank' } });
});

test('a capability without a provider answers feature_not_enabled, and the others go on', async () => {
  const refused = await live.call('GET', '/cards', undefined);
  expect([refused.status, refused.body.error?.code]).toEqual([403, 'feature_not_enabled']);
  expect((await live.call('GET', '/transfers', undefined)).status).toBe(200);
});

test('afterwards the ledgers of both environments balance', async () => {
  await service.allEnded();
  expect(await auditLedger(service.deps.database, audits)).toMatchObject({ problems: [] });
  expect(await auditLedger(liveDeps.database, audits)).toMatchObject({ problems: [] });
});

const liveUrl = () => `http://127.0.0.1:${liveEnv['PORT']}`;
