import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { sharedEngines } from '../support/engines.js';
import { run } from '../support/cli.js';
import { compiled } from '../../src/shared/package-root.js';
import { startService, type Service } from '../support/service.js';

const folder = join(import.meta.dirname, '..', 'support', 'tls');
const [ca, certificate, key] = ['ca.pem', 'certificate.pem', 'key.pem'].map((name) =>
  join(folder, name),
);

let server: Server;
let service: Service;
let connections = 0;
const sockets = new Set<Socket>();

beforeAll(async () => {
  const temporal = new URL(`tcp://${sharedEngines().temporalAddress}`);
  server = createServer(
    {
      cert: readFileSync(String(certificate)),
      key: readFileSync(String(key)),
      // Clients need a certificate, as with mutual TLS.
      ca: readFileSync(String(ca)),
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    },
    (secure) => {
      connections += 1;
      const plain = connect(Number(temporal.port), temporal.hostname);
      for (const socket of [secure, plain]) {
        sockets.add(socket);
        socket.on('error', () => undefined);
      }
      secure.pipe(plain);
      plain.pipe(secure);
    },
  );
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  service = await startService({
    temporalAddress: `localhost:${port}`,
    env: {
      TEMPORAL_TLS: 'true',
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: String(ca),
      TEMPORAL_TLS_CLIENT_CERT_PATH: String(certificate),
      TEMPORAL_TLS_CLIENT_KEY_PATH: String(key),
    },
  });
});
afterAll(async () => {
  await service?.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

test('API, worker and command line reach Temporal by mutual TLS from the standard environment variables', async () => {
  const tenant = await service.tenant();
  await tenant.waitFor(await tenant.send(), 'completed');
  expect(connections).toBeGreaterThan(2);
  const doctor = [compiled('src', 'ops', 'cli', 'main.js'), 'doctor', '--json'];
  const { out } = await run(process.execPath, doctor, service.env);
  const checks = JSON.parse(out) as { check: string; ok: boolean }[];
  expect(checks.filter(({ check }) => check.startsWith('temporal'))).toEqual([
    expect.objectContaining({ check: 'temporal', ok: true }),
    expect.objectContaining({ check: 'temporal: namespace', ok: true }),
    expect.objectContaining({ check: 'temporal: search attributes', ok: true }),
  ]);
});
