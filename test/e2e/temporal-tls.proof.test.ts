import { eventually } from '../support/eventually.js';
import { sharedEngines } from '../support/engines.js';
import { run } from '../support/cli.js';
import { compiled } from '../../src/shared/package-root.js';
import { answers } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, untilTaken } from '../support/tenant.js';
import { CERTIFICATES, startTlsProxy } from '../support/tls-proxy.js';

let proxy: Awaited<ReturnType<typeof startTlsProxy>>;
let service: Service;

beforeAll(async () => {
  const temporal = new URL(`tcp://${sharedEngines().temporalAddress}`);
  proxy = await startTlsProxy(temporal, { ALPNProtocols: ['h2'] });
  service = await startService({
    temporalAddress: proxy.address,
    env: {
      TEMPORAL_TLS: 'true',
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: CERTIFICATES.ca,
      TEMPORAL_TLS_CLIENT_CERT_PATH: CERTIFICATES.certificate,
      TEMPORAL_TLS_CLIENT_KEY_PATH: CERTIFICATES.key,
    },
  });
});
afterAll(async () => {
  await service?.close();
  proxy.close();
});

async function temporalChecks(env: Record<string, string>) {
  const doctor = [compiled('src', 'ops', 'cli', 'main.js'), 'doctor', '--json'];
  const { out } = await run(process.execPath, doctor, env);
  const checks = JSON.parse(out) as { check: string; ok: boolean; detail: string }[];
  return checks.filter(({ check }) => check.startsWith('temporal'));
}

test('API, worker and command line reach Temporal by mutual TLS from the standard environment variables', async () => {
  const tenant = await service.tenant();
  await tenant.waitFor(await tenant.send(), 'completed');
  expect(proxy.connections()).toBeGreaterThan(2);
  expect(await temporalChecks(service.env)).toEqual([
    expect.objectContaining({ check: 'temporal', ok: true }),
    expect.objectContaining({ check: 'temporal: namespace', ok: true }),
    expect.objectContaining({ check: 'temporal: search attributes', ok: true }),
    expect.objectContaining({ check: 'temporal: schedules', ok: true }),
  ]);
});

/** The settings of the service without the certificate of a client. */
function withoutCertificate(): Record<string, string> {
  const isOfClient = ([name]: [string, string]) => name.startsWith('TEMPORAL_TLS_CLIENT_');
  return Object.fromEntries(Object.entries(service.env).filter((each) => !isOfClient(each)));
}

test('without the certificate of a client, a worker ends before it runs', async () => {
  const isReady = (output: string) => output.includes('worker is running');
  const worker = service.process(compiled('worker', 'main.js'), withoutCertificate(), isReady);
  await expect(worker.start()).rejects.toThrow(/ended while it started/);
  expect(worker.output()).not.toContain('worker is running');
});

test('without the certificate of a client, an API accepts a transfer and starts no workflow: a worker that has one starts it', async () => {
  const port = await service.deadPort();
  const url = `http://127.0.0.1:${port}`;
  const env = { ...withoutCertificate(), PORT: String(port) };
  const api = service.process(compiled('src', 'main.js'), env, answers(`${url}/health/ready`));
  await api.start();
  const tenant = await service.tenant();
  service.worker.freeze();
  const sent = transferBody();
  const { status, body } = await untilTaken((under) => tenant.at(url).transfer(sent, under));
  expect(status).toBe(201);
  await eventually('the API has tried to start it', () =>
    api.output().includes('workflow start failed, dispatcher will retry') ? true : undefined,
  );
  expect((await tenant.stored(body.data.id)).status).toBe('pending');
  service.worker.thaw();
  await tenant.waitFor(body.data.id, 'completed');
});

test('without the certificate of a client, doctor says in one line that Temporal is not reached', async () => {
  expect(await temporalChecks(withoutCertificate())).toEqual([
    expect.objectContaining({
      check: 'temporal',
      ok: false,
      detail: expect.stringMatching(/^.+$/),
    }),
  ]);
});
