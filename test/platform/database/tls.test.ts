import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { connectDatabase } from '../../../src/platform/database/client.js';
import { loadConfig } from '../../../src/shared/config.js';
import { sharedEngines } from '../../support/engines.js';

const folder = join(import.meta.dirname, '..', '..', 'support', 'tls');
const file = (name: string) => join(folder, name);

let server: Server;
let address: string;
let home: string;
const sockets = new Set<Socket>();

/** A server that takes TLS with a client's certificate alone, in front of the MongoDB of the run. */
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'bursar-tls-'));
  const pair = ['certificate.pem', 'key.pem'].map((name) => readFileSync(file(name), 'utf8'));
  writeFileSync(join(home, 'client.pem'), pair.join('\n'));
  const { hostname, port } = new URL(sharedEngines().mongodbUri.replace('mongodb:', 'http:'));
  server = createServer(
    {
      cert: readFileSync(file('certificate.pem')),
      key: readFileSync(file('key.pem')),
      ca: readFileSync(file('ca.pem')),
      requestCert: true,
      rejectUnauthorized: true,
    },
    (secure) => {
      const plain = connect(Number(port), hostname);
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
  address = `localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
  rmSync(home, { recursive: true });
});

const connectBy = (options: Record<string, string>) => {
  const query = new URLSearchParams({ directConnection: 'true', ...options });
  const { mongodb } = loadConfig({
    MONGODB_URI: `mongodb://${address}/?${query.toString()}`,
    BURSAR_KEY_PEPPER: 'a pepper of the tests, long enough',
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: 'a secret of the tests',
  });
  return connectDatabase(mongodb, 'bursar-test');
};

test('MongoDB is reached by mutual TLS, with the certificates that MONGODB_URI names', async () => {
  const { client, db } = await connectBy({
    tls: 'true',
    tlsCAFile: file('ca.pem'),
    tlsCertificateKeyFile: join(home, 'client.pem'),
  });
  expect(await db.command({ ping: 1 })).toMatchObject({ ok: 1 });
  await client.close();
});

test.each([
  ['without TLS', {}],
  ['with an authority that has not signed its certificate', { tls: 'true' }],
  ['without a certificate of the client', { tls: 'true', tlsCAFile: file('ca.pem') }],
])(
  'a MongoDB that wants mutual TLS is not reached %s',
  async (_, options) => {
    await expect(connectBy(options)).rejects.toThrow();
  },
  60_000,
);
