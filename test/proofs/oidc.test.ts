import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKeyPair, SignJWT } from 'jose';
import type { AuditEntry } from '../../src/core/audit/entry.js';
import type { Deps } from '../../src/composition/deps.js';
import type { OperatorRole } from '../../src/platform/operators/operator.js';
import { compiled } from '../../src/shared/package-root.js';
import { bursarProcess } from '../support/cli.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { noteSecret } from '../support/logs.js';
import {
  approveDevice,
  changeRoles,
  exchangeKey,
  startIssuer,
  type TestIssuer,
} from '../support/oidc.js';
import {
  createTestOperator,
  operatorDeps,
  operatorSignIn,
  stopOperatorApis,
} from '../support/operators.js';

let issuer: TestIssuer;
let database: TestDatabase;
let deps: Deps;
let env: Record<string, string>;
let url: string;
let home: string;

beforeAll(async () => {
  [issuer, database] = await Promise.all([startIssuer(), openTestDatabase()]);
  const service = serviceAt(issuer);
  url = String((await operatorSignIn(service))['BURSAR_OPERATOR_URL']);
  deps = await operatorDeps(service);
  home = mkdtempSync(join(tmpdir(), 'bursar-sign-in-'));
  env = {
    OIDC_ISSUER: issuer.url,
    OIDC_CLIENT_ID: 'bursar',
    OIDC_SCOPES: 'openid profile email roles offline_access',
    BURSAR_OPERATOR_URL: url,
  };
});
afterAll(async () => {
  await stopOperatorApis();
  issuer.close();
  rmSync(home, { recursive: true });
  await database.close();
});

/** The settings of a service at which people of this issuer sign in. */
const serviceAt = ({ url: OIDC_ISSUER }: TestIssuer) => ({
  MONGODB_URI: database.uri,
  BURSAR_DATABASE: database.name,
  BURSAR_KEY_PEPPER: 'a pepper that only the tests use, long enough',
  BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
  SANDBOX_BANK_SECRET: 'a secret of the tests',
  OIDC_ISSUER,
  OIDC_CLIENT_ID: 'bursar',
});

/** The environment of one person on one machine, with the file of the sign-in. */
const machine = () => ({ ...env, BURSAR_SIGN_IN_FILE: join(home, `${randomUUID()}.json`) });
type Machine = ReturnType<typeof machine>;

/** Runs `bursar sign-in`, and does what it asks for as this person. Returns its exit code and what it printed. */
async function signIn(at: Machine, login: string, changes: Record<string, string> = {}) {
  const main = compiled('src', 'ops', 'cli', 'main.js');
  const child = spawn(process.execPath, [main, 'sign-in', '--json'], {
    env: { PATH: process.env['PATH'], ...at, ...changes },
  });
  const texts = { out: '', error: '' };
  child.stdout.on('data', (chunk: Buffer) => void (texts.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (texts.error += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const address = await eventually(
    'the address of the issuer',
    () => /Open (\S+)/.exec(texts.error)?.[1],
  );
  await approveDevice(address, login);
  return { code: await ended, ...texts };
}

/** The ID token of a person, from a sign-in by the command line. */
async function tokenOf(login: string, at = machine()): Promise<string> {
  expect(await signIn(at, login)).toMatchObject({ code: 0 });
  const { id_token: token, refresh_token: refreshToken } = kept(at);
  for (const secret of [token, refreshToken]) noteSecret(secret);
  return token;
}
const kept = (at: Machine) =>
  JSON.parse(readFileSync(at.BURSAR_SIGN_IN_FILE, 'utf8')) as {
    id_token: string;
    refresh_token: string;
  };

/** A later ID token of the sign-in on this machine. Tokens have their time in whole seconds. */
async function renewed(at: Machine): Promise<string> {
  await sleep(1_100);
  const response = await fetch(`${issuer.url}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: kept(at).refresh_token,
      client_id: 'bursar',
    }),
  });
  const given = (await response.json()) as ReturnType<typeof kept>;
  for (const secret of [given.id_token, given.refresh_token]) noteSecret(secret);
  writeFileSync(at.BURSAR_SIGN_IN_FILE, JSON.stringify({ ...kept(at), ...given }));
  return given.id_token;
}

async function get(token: string, path = '/me') {
  const response = await fetch(`${url}/operator/v1${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { data, error } = (await response.json()) as {
    data?: { id: string; name: string; roles: OperatorRole[] };
    error?: { code: string; message: string };
  };
  return { status: response.status, data, code: error?.code, message: error?.message };
}

const entries = (filter: object) =>
  database.db.collection<AuditEntry>('audit_log').find(filter).sort({ _id: 1 }).toArray();

test('a person signs in with a browser, and acts with the name and the roles of the issuer, until sign-out', async () => {
  const at = machine();
  const { code, out, error } = await signIn(at, 'ada+operator');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ name: 'ada', roles: ['operator'], key_id: null });
  expect(statSync(at.BURSAR_SIGN_IN_FILE).mode & 0o777).toBe(0o600);
  const { id_token: token, refresh_token: refreshToken } = kept(at);
  for (const secret of [token, refreshToken]) expect(out + error).not.toContain(secret);

  const created = await bursarProcess('tenants create --name Ada --plan sandbox --json', at);
  expect(created).toMatchObject({ code: 0 });
  const { id } = JSON.parse(out) as { id: string };
  const [act] = await entries({ action: 'tenants.create' });
  expect(act?.actor).toEqual({ operator: id, name: 'ada', roles: ['operator'] });
  expect(await entries({ action: 'operators.sign_in', target: 'ada@tests.invalid' })).toMatchObject(
    [{ actor: { operator: null, name: issuer.url }, before: null, after: { id } }],
  );
  expect(await bursarProcess('operators list --json', at)).toMatchObject({ code: 0 });
  // For the console, which cannot renew it.
  const printed = await bursarProcess('sign-in --token --json', at);
  expect(printed).toMatchObject({
    code: 0,
    out: JSON.stringify({ id_token: kept(at).id_token }),
  });

  expect(await bursarProcess('sign-out --json', at)).toMatchObject({ code: 0 });
  expect(await bursarProcess('operators me', at)).toMatchObject({
    code: 1,
    error: expect.stringContaining('nobody has signed in'),
  });
  writeFileSync(at.BURSAR_SIGN_IN_FILE, '{}', { mode: 0o644 });
  expect(await bursarProcess('operators me', at)).toMatchObject({
    code: 1,
    error: expect.stringContaining('other users can read'),
  });
});

test('a token that has expired is refused, and the command line renews it until the issuer ends the sign-in', async () => {
  const at = machine();
  const token = await tokenOf('bola+viewer+brief', at);
  await eventually('the token has expired', async () => {
    const { code, message } = await get(token);
    return code === 'unauthorized' && message?.includes('expired') ? true : undefined;
  });
  // Two commands at once: the refresh token is used once.
  const both = await Promise.all([1, 2].map(() => bursarProcess('operators me --json', at)));
  for (const { code, out } of both)
    expect([code, JSON.parse(out)]).toMatchObject([0, { name: 'bola' }]);
  expect(kept(at).id_token).not.toBe(token);
  expect(statSync(at.BURSAR_SIGN_IN_FILE).mode & 0o777).toBe(0o600);

  // The issuer ends the sign-in while the person works.
  await fetch(`${issuer.url}/token/revocation`, {
    method: 'POST',
    body: new URLSearchParams({ token: kept(at).refresh_token, client_id: 'bursar' }),
  });
  expect(await bursarProcess('operators me', at)).toMatchObject({
    code: 1,
    error: expect.stringContaining('sign in again'),
  });
});

test('an account that is disabled in the middle is refused at once, whatever its token says, and the refusal is in the audit log', async () => {
  const [token, admin] = await Promise.all([tokenOf('chidi+operator'), tokenOf('dayo+admin')]);
  const { data } = await get(token);
  const id = String(data?.id);
  const set = async (disabled: boolean) =>
    fetch(`${url}/operator/v1/operators/${id}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({ disabled }),
    });
  expect((await set(true)).status).toBe(200);
  expect(await get(token)).toMatchObject({ status: 401, code: 'unauthorized' });
  expect(await entries({ 'actor.operator': id, 'after.refused': 'unauthorized' })).toHaveLength(1);
  await set(false);
  expect(await get(token)).toMatchObject({ status: 200 });
});

test('a token for another client of the issuer is refused', async () => {
  const at = machine();
  const { code, error } = await signIn(at, 'efe+admin', { OIDC_CLIENT_ID: 'other' });
  expect([code, error]).toEqual([1, expect.stringContaining('aud')]);
  expect(await database.db.collection('operators').countDocuments({ name: 'efe' })).toBe(0);
});

test('a token that the issuer has not signed is refused: changed, signed by another key, or without a signature', async () => {
  const token = await tokenOf('femi+viewer');
  const [head = '', body = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const forged = { ...claims, roles: ['admin'] };
  const { privateKey } = await generateKeyPair('RS256');
  const byAnother = await new SignJWT(forged)
    .setProtectedHeader({ alg: 'RS256', kid: 'of-the-tests' })
    .sign(privateKey);
  // The issuer's public key as the secret of a symmetric signature.
  const { keys } = (await (await fetch(`${issuer.url}/jwks`)).json()) as { keys: object[] };
  const bySecret = await new SignJWT(forged)
    .setProtectedHeader({ alg: 'HS256', kid: 'of-the-tests' })
    .sign(Buffer.from(JSON.stringify(keys[0])));
  const header = { alg: 'none', typ: 'JWT' };
  for (const each of [
    `${head}.${encoded(forged)}.${signature}`,
    byAnother,
    bySecret,
    `${encoded(header)}.${encoded(forged)}.`,
    'no token at all',
  ]) {
    expect([each, await get(each)]).toEqual([
      each,
      expect.objectContaining({ status: 401, code: 'unauthorized' }),
    ]);
  }
  expect(await get(token)).toMatchObject({ status: 200, data: { roles: ['viewer'] } });
});

test('a person with no role that exists here is refused, and gets no account', async () => {
  const at = machine();
  const { code, error } = await signIn(at, 'gozie+janitor');
  expect([code, error]).toEqual([1, expect.stringContaining('none of the roles')]);
  expect(await database.db.collection('operators').countDocuments({ name: 'gozie' })).toBe(0);
});

test('an issuer that is away for longer than its keys are kept ends no sign-in, and a token by another key is told to come again', async () => {
  const away = await startIssuer();
  const own = String((await operatorSignIn(serviceAt(away)))['BURSAR_OPERATOR_URL']);
  const at = { ...machine(), OIDC_ISSUER: away.url, BURSAR_OPERATOR_URL: own };
  const token = await tokenOf('lola+viewer', at);
  const me = async (given: string) => {
    const headers = { authorization: `Bearer ${given}` };
    return (await fetch(`${own}/operator/v1/me`, { headers })).status;
  };
  expect(await me(token)).toBe(200);
  away.close();
  await eventually('the issuer is away', () =>
    fetch(away.url).then(
      () => undefined,
      () => true,
    ),
  );
  const { now } = Date;
  Date.now = () => now() + 11 * 60_000;
  try {
    expect([await me(token), await me(token)]).toEqual([200, 200]);
    const { privateKey } = await generateKeyPair('RS256');
    const header = { alg: 'RS256', kid: 'of-tomorrow' };
    const unknown = await new SignJWT({ sub: 'lola' }).setProtectedHeader(header).sign(privateKey);
    expect(await me(unknown)).toBe(503);
    expect(await me(token)).toBe(200);
  } finally {
    Date.now = now;
  }
});

test('the issuer exchanges its signing key while a script works: no command fails, and tokens by the old key end', async () => {
  const at = machine();
  const before = await tokenOf('mina+viewer', at);
  expect(await get(before)).toMatchObject({ status: 200 });
  // Twice: the keys were read a moment ago.
  for (let times = 0; times < 2; times += 1) {
    await exchangeKey(issuer);
    const after = await renewed(at);
    expect(await get(after)).toMatchObject({ status: 200 });
    expect(await bursarProcess('operators me --json', at)).toMatchObject({ code: 0 });
  }
  expect(await get(before)).toMatchObject({ status: 401, code: 'unauthorized' });
});

test('the issuer decides the roles: a new one takes effect with the next token, and older tokens end', async () => {
  const before = await tokenOf('hauwa+operator');
  const first = await get(before);
  // The same person at the issuer, with other roles since.
  const { issuer: own, subject } = {
    issuer: issuer.url,
    subject: 'hauwa+operator',
  };
  await database.db
    .collection('operators')
    .updateOne(
      { 'identity.issuer': own, 'identity.subject': subject },
      { $set: { roles: ['viewer'], 'identity.roles_at': new Date(Date.now() + 60_000) } },
    );
  expect(await get(before)).toMatchObject({
    status: 401,
    message: expect.stringContaining('roles'),
  });
  await database.db
    .collection('operators')
    .updateOne({ 'identity.subject': subject }, { $set: { 'identity.roles_at': new Date(0) } });
  expect(await get(before)).toMatchObject({
    status: 200,
    data: { id: first.data?.id, roles: ['operator'] },
  });
});

test('the last role of a person is taken at the issuer: the account has none from the first token without it on, older tokens end for good, and both refusals are in the audit log', async () => {
  const [at, login] = [machine(), 'kemi+operator'];
  const before = await tokenOf(login, at);
  const { data } = await get(before);
  await changeRoles(issuer, login, []);
  const without = await renewed(at);
  expect(await get(without)).toMatchObject({ status: 403, code: 'forbidden' });
  expect(await get(without)).toMatchObject({ status: 403, code: 'forbidden' });
  expect(await get(before)).toMatchObject({ status: 401, code: 'unauthorized' });
  const target = 'kemi@tests.invalid';
  expect(await entries({ action: 'operators.sign_in', target })).toMatchObject([
    { before: null, after: { roles: ['operator'] } },
    { before: { roles: ['operator'] }, after: { roles: [] } },
  ]);
  const ofRefusal = { 'actor.operator': data?.id, 'after.refused': 'forbidden' };
  expect(await entries(ofRefusal)).toHaveLength(2);

  await changeRoles(issuer, login, ['operator']);
  const again = await renewed(at);
  expect(await get(again)).toMatchObject({ status: 200, data: { id: data?.id } });
  expect(await get(before)).toMatchObject({ status: 401, code: 'unauthorized' });
});

test('beside an issuer, keys are refused, and nobody makes accounts, keys or roles by hand', async () => {
  const { key } = await createTestOperator(deps, ['admin']);
  expect(await get(key)).toMatchObject({
    status: 401,
    message: expect.stringContaining('bursar sign-in'),
  });
  const at = machine();
  await tokenOf('ife+admin', at);
  const { data } = await get(kept(at).id_token);
  for (const line of [
    `operators add-key ${data?.id}`,
    `operators create --name Obi --email obi@tests.invalid --role admin`,
  ]) {
    expect([line, await bursarProcess(line, at)]).toEqual([
      line,
      expect.objectContaining({ code: 1 }),
    ]);
  }
});

test('an account from before the issuer is the one of the person whose verified e-mail it has', async () => {
  const { id } = await deps.operators.create({
    name: 'Jide',
    email: 'jide@tests.invalid',
    roles: ['viewer'],
    createdBy: [],
  });
  const token = await tokenOf('jide+approver');
  expect(await get(token)).toMatchObject({ data: { id, roles: ['approver'] } });
});
