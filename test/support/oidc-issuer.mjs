/**
 * A real OpenID provider for the tests, on a free port of the loopback address: node test/support/oidc-issuer.mjs. It prints its
 * issuer as JSON. People sign in by the device flow with any password; their name says their roles: `ada+operator+admin`. The
 * ID tokens of `…+brief` end after eight seconds. `bursar` is the client of Bursar, `other` that of somebody else.
 */
import { createServer } from 'node:http';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Provider } from 'oidc-provider';
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const client = (client_id) => ({
  client_id,
  token_endpoint_auth_method: 'none',
  grant_types: [DEVICE, 'refresh_token'],
  redirect_uris: [],
  response_types: [],
});

const newKey = (kid) => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  kid,
  use: 'sig',
  alg: 'RS256',
});

/** The roles that people have had since a test has changed them. */
const changedRoles = new Map();

const claimsOf = (accountId) => {
  const [name, ...roles] = accountId.split('+');
  return {
    sub: accountId,
    name,
    email: `${name}@tests.invalid`,
    email_verified: true,
    roles: changedRoles.get(accountId) ?? roles.filter((role) => role !== 'brief'),
  };
};

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const settings = {
  clients: [client('bursar'), client('other')],
  cookies: { keys: [randomBytes(16).toString('hex')] },
  features: {
    deviceFlow: { enabled: true },
    revocation: { enabled: true },
    devInteractions: { enabled: true },
  },
  scopes: ['openid', 'offline_access', 'profile', 'email', 'roles'],
  claims: {
    openid: ['sub'],
    profile: ['name'],
    email: ['email', 'email_verified'],
    roles: ['roles'],
  },
  conformIdTokenClaims: false,
  findAccount: (_, accountId) => ({ accountId, claims: async () => claimsOf(accountId) }),
  issueRefreshToken: async (_, each, code) =>
    each.grantTypeAllowed('refresh_token') && code.scopes.has('offline_access'),
  ttl: {
    IdToken: (ctx) => (ctx.oidc.account?.accountId.endsWith('+brief') ? 8 : 600),
    AccessToken: 600,
    RefreshToken: 86_400,
    DeviceCode: 600,
    Grant: 86_400,
    Interaction: 600,
    Session: 600,
  },
};
/** As a class of its own, it has one memory for all providers: a sign-in outlives the exchange of the key. */
class OneMemory extends MemoryAdapter {}
const providerWith = (key) =>
  new Provider(issuer, { ...settings, adapter: OneMemory, jwks: { keys: [key] } });
let provider = providerWith(newKey('of-the-tests'));
// PUT /tests/keys exchanges the signing key, and PUT /tests/roles?login=ada%2Boperator&role=viewer gives this person these roles alone.
server.on('request', (request, response) => {
  const { pathname, searchParams: query } = new URL(request.url, issuer);
  if (pathname === '/tests/keys') {
    provider = providerWith(newKey(randomBytes(8).toString('hex')));
    return response.end();
  }
  if (pathname !== '/tests/roles') return provider.callback()(request, response);
  changedRoles.set(query.get('login'), query.getAll('role'));
  return response.end();
});
console.log(JSON.stringify({ issuer }));
