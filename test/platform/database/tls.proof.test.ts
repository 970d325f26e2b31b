import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectDatabase } from '../../../src/platform/database/client.js';
import { loadConfig } from '../../../src/shared/config.js';
import { claimPort } from '../../../devstack/ports.js';
import { compiled } from '../../../src/shared/package-root.js';
import { eachAtOnce } from '../../support/at-once.js';
import { run } from '../../support/cli.js';
import { sharedEngines } from '../../support/engines.js';
import { CERTIFICATES, startTlsProxy } from '../../support/tls-proxy.js';

const { ca, certificate, key } = CERTIFICATES;

let proxy: Awaited<ReturnType<typeof startTlsProxy>>;
let home: string;

/** In front of the MongoDB of the run. */
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'bursar-tls-'));
  const pair = [certificate, key].map((file) => readFileSync(file, 'utf8'));
  writeFileSync(join(home, 'client.pem'), pair.join('\n'));
  proxy = await startTlsProxy(new URL(sharedEngines().mongodbUri.replace('mongodb:', 'http:')));
});
afterAll(() => {
  proxy.close();
  rmSync(home, { recursive: true });
});

const settingsFor = (options: Record<string, string>) => {
  const query = new URLSearchParams({ directConnection: 'true', ...options });
  return {
    MONGODB_URI: `mongodb://${proxy.address}/?${query.toString()}`,
    BURSAR_KEY_PEPPER: 'a pepper of the tests, long enough',
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: 'a secret of the tests',
  };
};
const connectBy = (options: Record<string, string>) =>
  connectDatabase(loadConfig(settingsFor(options)).mongodb, 'bursar-test');

test('MongoDB is reached by mutual TLS, with the certificates that MONGODB_URI names', async () => {
  const { client, db } = await connectBy({
    tls: 'true',
    tlsCAFile: ca,
    tlsCertificateKeyFile: join(home, 'client.pem'),
  });
  expect(await db.command({ ping: 1 })).toMatchObject({ ok: 1 });
  await client.close();
});

test.each([
  ['without TLS', {}],
  ['with an authority that has not signed its certificate', { tls: 'true' }],
  ['without a certificate of the client', { tls: 'true', tlsCAFile: ca }],
])('a MongoDB that wants mutual TLS is not reached %s', async (_, options) => {
  await expect(connectBy(options)).rejects.toThrow();
});

eachAtOnce([
  ['API', 'without TLS', ['src', 'main.js'], {}],
  ['worker', 'without TLS', ['worker', 'main.js'], {}],
  ['API', 'without a certificate of its own', ['src', 'main.js'], { tls: 'true', tlsCAFile: ca }],
  [
    'worker',
    'without a certificate of its own',
    ['worker', 'main.js'],
    { tls: 'true', tlsCAFile: ca },
  ],
])('the %s ends before it serves %s', async (_process, _how, script, options) => {
  const port = await claimPort(20_000 + Math.floor(Math.random() * 10_000));
  const env = {
    ...settingsFor(options),
    TEMPORAL_ADDRESS: sharedEngines().temporalAddress,
    PORT: String(port.port),
  };
  const { code, out } = await run(process.execPath, [compiled(...script)], env);
  port.release();
  expect({ code, out }).toEqual({
    code: 1,
    out: expect.stringContaining('MongoServerSelectionError'),
  });
  expect(out).not.toMatch(/api is listening|worker is running/);
});
