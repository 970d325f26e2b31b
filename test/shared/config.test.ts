import { randomBytes } from 'node:crypto';
import { loadConfig } from '../../src/shared/config.js';

const REQUIRED = {
  MONGODB_URI: 'mongodb://127.0.0.1/',
  BURSAR_KEY_PEPPER: 'a pepper of the tests, long enough',
  BURSAR_SEALING_KEYS: `test:${Buffer.from('0123456789abcdef0123456789abcdeF').toString('base64')}`,
  SANDBOX_BANK_SECRET: 'a secret of the tests',
};
const LIVE = { ...REQUIRED, BURSAR_ENV: 'live', BURSAR_LIVE_REHEARSAL: 'true' };
const load = (env: Record<string, string>) => () => loadConfig({ ...LIVE, ...env });

const TLS_MONGODB = 'mongodb://user:word@db1.example,db2.example/?replicaSet=rs&tls=true';
const CERTIFICATE = {
  TEMPORAL_TLS_CLIENT_CERT_DATA: 'a certificate',
  TEMPORAL_TLS_CLIENT_KEY_DATA: 'its key',
};

test.each([
  ['mongodb://user:word@db.example/', 'tls=true'],
  ['mongodb://db.example/?tls=true', 'a user or an authMechanism'],
  ['mongodb://user:word@db.example/?tls=true&tlsAllowInvalidCertificates=true', 'tls=true'],
  ['mongodb://user:word@127.0.0.1,db.example/', 'tls=true'],
  ['mongodb+srv://user:word@db.example/?tls=false', 'tls=true'],
])('live does not start with MongoDB at %s', (MONGODB_URI, needs) => {
  expect(load({ MONGODB_URI })).toThrow(new RegExp(`MONGODB_URI: needs .*${needs}`));
  expect(() => loadConfig({ ...REQUIRED, MONGODB_URI })).not.toThrow();
});

test.each([
  ['without TLS', {}, 'TEMPORAL_TLS=true'],
  [
    'with TLS switched off',
    { TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: 'a key' },
    'TEMPORAL_TLS=true',
  ],
  ['with TLS alone', { TEMPORAL_TLS: 'true' }, 'a client certificate'],
])('live does not start with Temporal over the network %s', (_, env, needs) => {
  const temporal = { TEMPORAL_ADDRESS: 'temporal.example:7233', ...env };
  expect(load(temporal)).toThrow(new RegExp(`TEMPORAL_ADDRESS: needs .*${needs}`));
  expect(() => loadConfig({ ...REQUIRED, ...temporal })).not.toThrow();
});

test.each([
  [
    'over the network with TLS and an API key',
    { MONGODB_URI: TLS_MONGODB, TEMPORAL_API_KEY: 'a key' },
  ],
  [
    'over the network with certificates',
    { MONGODB_URI: 'mongodb://db.example/?tls=true&authMechanism=MONGODB-X509', ...CERTIFICATE },
  ],
  [
    'with a service that has its own name',
    { MONGODB_URI: 'mongodb+srv://user:word@db.example/', ...CERTIFICATE },
  ],
])('live starts %s', (_, env) => {
  expect(load({ TEMPORAL_ADDRESS: 'temporal.example:7233', ...env })).not.toThrow();
});

test.each(['x'.repeat(40), 'changeme'.repeat(4), `new:${'0123'.repeat(8)},old:${'x'.repeat(40)}`])(
  'live does not start with a pepper that was typed by hand: %s',
  (BURSAR_KEY_PEPPER) => {
    expect(load({ BURSAR_KEY_PEPPER })).toThrow(
      /BURSAR_KEY_PEPPER: must begin with a random pepper/,
    );
    expect(() => loadConfig({ ...REQUIRED, BURSAR_KEY_PEPPER })).not.toThrow();
  },
);

test('live starts with peppers that were generated', () => {
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    const BURSAR_KEY_PEPPER = randomBytes(32).toString(encoding);
    expect(load({ BURSAR_KEY_PEPPER })).not.toThrow();
    // An old one may be any, so that the keys under it can be exchanged.
    const rotated = `new:${BURSAR_KEY_PEPPER},old:${'x'.repeat(40)}`;
    expect(load({ BURSAR_KEY_PEPPER: rotated })).not.toThrow();
  }
});

test('live starts within one machine', () => {
  for (const host of ['127.0.0.1:27017', 'localhost', '[::1]:27017', '%2Ftmp%2Fmongodb.sock']) {
    const env = { MONGODB_URI: `mongodb://${host}/`, TEMPORAL_ADDRESS: 'localhost:7233' };
    expect(load(env)).not.toThrow();
  }
});

test('metrics and the operator API listen on the loopback address, wherever the API listens', () => {
  const { metrics, operators, http } = loadConfig({
    ...REQUIRED,
    BURSAR_HOST: '0.0.0.0',
    BURSAR_OPERATOR_PORT: '0',
  });
  expect([http.host, metrics.host, operators.host]).toEqual(['0.0.0.0', '127.0.0.1', '127.0.0.1']);
});

test('a setting that is empty is not set', () => {
  const { http, mongodb } = loadConfig({ ...REQUIRED, PORT: '', BURSAR_DATABASE: '' });
  expect([http.port, mongodb.database]).toEqual([8080, 'bursar_sandbox']);
});
