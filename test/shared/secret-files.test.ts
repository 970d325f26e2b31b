import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONFIG_VARIABLES, loadConfig } from '../../src/shared/config.js';
import { SECRETS, withSecretFiles } from '../../src/shared/secret-files.js';

const VALUES: Record<string, string> = {
  MONGODB_URI: 'mongodb://user:word@db.example/?tls=true',
  BURSAR_KEY_PEPPER: 'a pepper of the tests, long enough',
  BURSAR_SEALING_KEYS: `test:${Buffer.from('0123456789abcdef0123456789abcdeF').toString('base64')}`,
  SANDBOX_BANK_SECRET: 'a secret of the tests',
  PAYSTACK_SECRET_KEY: 'sk_test_abcdefghij',
  TEMPORAL_API_KEY: 'a key of the tests',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=a%20word',
};

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'bursar-secrets-'))));
afterAll(() => rmSync(folder, { recursive: true }));

const fileWith = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
};

test('every secret may come from a file, with the same configuration as from the environment', () => {
  const files = Object.entries(VALUES).map(([name, value]) => [
    `${name}_FILE`,
    fileWith(name, `${value}\n`),
  ]);
  expect(loadConfig(Object.fromEntries(files))).toEqual(loadConfig(VALUES));
});

test('every setting whose name says that it is a secret may come from a file', () => {
  const secret = /SECRET|PASSWORD|PEPPER|SEALING_KEYS|API_KEY|_HEADERS|MONGODB_URI/;
  const missing = CONFIG_VARIABLES.filter(
    (name) => secret.test(name) && !SECRETS.some((each) => each === name),
  );
  expect(missing).toEqual([]);
  expect(CONFIG_VARIABLES).toEqual(expect.arrayContaining(['BURSAR_KEY_PEPPER', 'MONGODB_URI']));
});

test('a secret that is set twice, is empty or cannot be read stops the start, and is not in the message', () => {
  const path = fileWith('twice', 'a pepper of the file, which is long enough');
  const twice = { BURSAR_KEY_PEPPER: 'another', BURSAR_KEY_PEPPER_FILE: path };
  expect(() => withSecretFiles(twice)).toThrow(/^BURSAR_KEY_PEPPER and .* remove one of them$/);
  expect(() => withSecretFiles({ MONGODB_URI_FILE: fileWith('empty', '\n') })).toThrow(/is empty$/);
  const missing = { MONGODB_URI_FILE: join(folder, 'nothing') };
  expect(() => withSecretFiles(missing)).toThrow(
    /^MONGODB_URI_FILE: .* cannot be read \(ENOENT\)$/,
  );
});

test('a file that ends in _FILE and names no secret is left alone', () => {
  const env = { TEMPORAL_CONFIG_FILE: '/nowhere', PORT_FILE: '/nowhere' };
  expect(withSecretFiles(env)).toEqual(env);
});
