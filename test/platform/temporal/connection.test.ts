import { once } from 'node:events';
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTemporal } from '../../../src/platform/temporal/client.js';
import { loadConfig } from '../../../src/shared/config.js';

const REQUIRED = {
  MONGODB_URI: 'mongodb://127.0.0.1/',
  BURSAR_KEY_PEPPER: 'a pepper of the tests, long enough',
  BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
  SANDBOX_BANK_SECRET: 'a secret of the tests',
};
const temporalOf = (env: Record<string, string>) => loadConfig({ ...REQUIRED, ...env }).temporal;
const folder = join(import.meta.dirname, '..', '..', 'support', 'tls');

test('without settings Temporal is on this machine, without TLS', () => {
  expect(temporalOf({})).toMatchObject({
    address: '127.0.0.1:7233',
    namespace: 'bursar-sandbox',
    connection: { address: '127.0.0.1:7233' },
  });
  expect(temporalOf({}).connection).not.toHaveProperty('apiKey');
});

test('a profile of the file that TEMPORAL_CONFIG_FILE names is used, and variables outrank it', () => {
  const home = mkdtempSync(join(tmpdir(), 'bursar-profile-'));
  const file = join(home, 'temporal.toml');
  writeFileSync(
    file,
    '[profile.live]\naddress = "live.example:7233"\nnamespace = "payments"\napi_key = "from the file"\n',
  );
  const env = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'live' };
  expect(temporalOf(env)).toMatchObject({
    namespace: 'payments',
    connection: { address: 'live.example:7233', apiKey: 'from the file' },
  });
  expect(temporalOf({ ...env, TEMPORAL_ADDRESS: 'other.example:7233' })).toMatchObject({
    address: 'other.example:7233',
    connection: { address: 'other.example:7233' },
  });
  rmSync(home, { recursive: true });
});

test('an API key is sent with every call, over TLS', async () => {
  const seen: unknown[] = [];
  const server = createSecureServer({
    cert: readFileSync(join(folder, 'certificate.pem')),
    key: readFileSync(join(folder, 'key.pem')),
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    seen.push(headers.authorization);
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = temporalOf({
    TEMPORAL_ADDRESS: `localhost:${port}`,
    TEMPORAL_API_KEY: 'key-1',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, 'ca.pem'),
  });
  const temporal = createTemporal(config);
  await temporal.client.workflow.getHandle('any').signal('any');
  await temporal.close();
  server.close();
  expect(seen.length).toBeGreaterThan(0);
  expect(new Set(seen)).toEqual(new Set(['Bearer key-1']));
});
