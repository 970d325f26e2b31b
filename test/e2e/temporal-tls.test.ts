import { sharedEngines } from '../support/engines.js';
import { run } from '../support/cli.js';
import { compiled } from '../../src/shared/package-root.js';
import { startService, type Service } from '../support/service.js';
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

test('API, worker and command line reach Temporal by mutual TLS from the standard environment variables', async () => {
  const tenant = await service.tenant();
  await tenant.waitFor(await tenant.send(), 'completed');
  expect(proxy.connections()).toBeGreaterThan(2);
  const doctor = [compiled('src', 'ops', 'cli', 'main.js'), 'doctor', '--json'];
  const { out } = await run(process.execPath, doctor, service.env);
  const checks = JSON.parse(out) as { check: string; ok: boolean }[];
  expect(checks.filter(({ check }) => check.startsWith('temporal'))).toEqual([
    expect.objectContaining({ check: 'temporal', ok: true }),
    expect.objectContaining({ check: 'temporal: namespace', ok: true }),
    expect.objectContaining({ check: 'temporal: search attributes', ok: true }),
  ]);
});
