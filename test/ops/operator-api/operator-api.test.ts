import { randomUUID } from 'node:crypto';
import type { AuditEntry } from '../../../src/core/audit/entry.js';
import type { Deps } from '../../../src/composition/deps.js';
import { beginVerification } from '../../../src/core/ledger/verifications.js';
import type { OperatorRole } from '../../../src/platform/operators/operator.js';
import { newId } from '../../../src/shared/ids.js';
import { bursar } from '../../support/cli.js';
import { deadDelivery, failedEvent } from '../../support/dead-letters.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { createTestOperator, operatorDeps, operatorSignIn } from '../../support/operators.js';
import { pendingTransfer } from '../../support/transfers.js';

let database: TestDatabase;
let env: Record<string, string>;
let url: string;
let deps: Deps;
beforeAll(async () => {
  database = await openTestDatabase();
  env = {
    MONGODB_URI: database.uri,
    BURSAR_DATABASE: database.name,
    BURSAR_KEY_PEPPER: 'a pepper that only the tests use, long enough',
    SANDBOX_BANK_SECRET: 'a secret of the tests',
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
    BURSAR_TEMPORAL_UI_URL: 'http://127.0.0.1:8233/',
  };
  url = String((await operatorSignIn(env))['BURSAR_OPERATOR_URL']);
  deps = await operatorDeps(env);
});
afterAll(() => database.close());

const entries = () => database.db.collection<AuditEntry>('audit_log');
const signedIn = async (roles: OperatorRole[]) => {
  const { id, key } = await createTestOperator(deps, roles);
  return { id, key, env: { ...env, BURSAR_OPERATOR_URL: url, BURSAR_OPERATOR_KEY: key } };
};

async function request(key: string, method: string, path: string, body?: object) {
  const response = await fetch(`${url}/operator/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

test('every command that changes something leaves one entry with the signed-in operator', async () => {
  const operator = await signedIn(['operator', 'admin']);
  const json = async (line: string) => {
    const before = await entries().countDocuments();
    const { code, out, error } = await bursar(`${line} --json`, operator.env);
    expect([line, code, error]).toEqual([line, 0, '']);
    const fresh = await entries()
      .find({ _id: { $gt: before } })
      .toArray();
    return { answer: JSON.parse(out), fresh };
  };
  const act = async (line: string, action: string) => {
    const { answer, fresh } = await json(line);
    expect([line, fresh]).toMatchObject([line, [{ action, actor: { operator: operator.id } }]]);
    return { ...answer, entry: fresh[0] };
  };

  const { id: tenant } = await act('tenants create --name Ada --plan sandbox', 'tenants.create');
  const updated = await act(`tenants update ${tenant} --daily-limit-minor 7000`, 'tenants.update');
  expect(updated.entry).toMatchObject({
    target: tenant,
    before: { daily_limit_minor: 1_000_000_000 },
    after: { daily_limit_minor: 7_000 },
  });
  const frozen = await act(`tenants freeze ${tenant}`, 'tenants.freeze');
  expect(frozen.entry).toMatchObject({ reason: null, before: { frozen_at: null } });
  await act(`tenants unfreeze ${tenant} --reason over`, 'tenants.unfreeze');
  const key = await act(`keys create --tenant ${tenant} --level write`, 'keys.create');
  expect(JSON.stringify(key.entry)).not.toContain(key.key);
  const rotated = await act(`keys rotate ${key.id}`, 'keys.rotate');
  await act(`keys revoke ${rotated.id}`, 'keys.revoke');
  const credit = `wallets credit --tenant ${tenant} --amount-minor 700 --reference r1`;
  const credited = await act(`${credit} --reason opening`, 'wallets.credit');
  expect(credited.entry).toMatchObject({
    reason: 'opening',
    before: { available_minor: 0 },
    after: { available_minor: 700 },
  });
  const add = `webhooks endpoints add --tenant ${tenant} --url http://127.0.0.1:9/hook`;
  const endpoint = await act(add, 'webhooks.endpoints.add');
  expect(JSON.stringify(endpoint.entry)).not.toContain(endpoint.secret);
  const update = `webhooks endpoints update ${endpoint.id} --events`;
  const filtered = await act(`${update} transfer.*`, 'webhooks.endpoints.update');
  expect(filtered.entry).toMatchObject({
    before: { events: null },
    after: { events: ['transfer.*'] },
  });
  const all = await act(`${update} *`, 'webhooks.endpoints.update');
  expect(all.entry).toMatchObject({ after: { events: null } });
  await act(`webhooks endpoints ping ${endpoint.id}`, 'webhooks.endpoints.ping');
  await act(`webhooks endpoints rotate ${endpoint.id}`, 'webhooks.endpoints.rotate');
  await act(`webhooks endpoints disable ${endpoint.id}`, 'webhooks.endpoints.disable');
  await act(`webhooks endpoints remove ${endpoint.id}`, 'webhooks.endpoints.remove');
  await act('ledger close', 'ledger.close');
  await deps.providerFaults.report('sandbox-bank', 'float', 5_000n);
  const resumed = await act('providers resume sandbox-bank', 'providers.resume');
  expect(resumed).toMatchObject({
    provider: 'sandbox-bank',
    ended: ['float'],
    entry: { target: 'sandbox-bank', before: { faults: ['float'] }, after: { faults: [] } },
  });
  const account = `operators create --name Bayo --email ${randomUUID()}@tests.invalid --role viewer`;
  const made = await act(account, 'operators.create');
  expect(JSON.stringify(made.entry)).not.toContain(made.key);
  await act(`operators roles ${made.id} --role operator`, 'operators.update');
  await act(`operators disable ${made.id}`, 'operators.update');

  for (const line of [
    'tenants list',
    `keys list --tenant ${tenant}`,
    'audit list',
    'providers list',
    'providers show sandbox-bank',
    'operators me',
  ]) {
    expect((await json(line)).fresh).toEqual([]);
  }
  expect(await json('audit verify')).toMatchObject({ answer: { ok: true, problems: [] } });
}, 240_000);

test('an endpoint is added with a filter; a pattern that no event fits is refused, and so is a ping of a disabled one', async () => {
  const { env: own } = await signedIn(['operator', 'admin']);
  const run = (line: string) => bursar(`webhooks endpoints ${line} --json`, own);
  const { id: tenant } = await deps.tenants.create({ name: 'Ada', plan: 'sandbox' });
  const add = `add --tenant ${tenant} --url http://127.0.0.1:9/hook --events`;
  const added = JSON.parse((await run(`${add} transfer.*,charge.failed`)).out);
  expect(JSON.parse((await run(`list --tenant ${tenant}`)).out)).toMatchObject([
    { id: added.id, events: ['transfer.*', 'charge.failed'] },
  ]);
  const refused = await run(`${add} transfers.*`);
  expect([refused.code, refused.error]).toEqual([
    1,
    expect.stringContaining('no event fits transfers.*'),
  ]);
  await run(`disable ${added.id}`);
  const ping = await run(`ping ${added.id}`);
  expect([ping.code, ping.error]).toEqual([1, expect.stringContaining('the endpoint is disabled')]);
});

test('events replay takes the id of an event of a tenant or of a provider, and refuses an unknown one', async () => {
  const { env: own } = await signedIn(['operator']);
  const { id: tenant } = await deps.tenants.create({ name: 'Ada', plan: 'sandbox' });
  const { event } = await deadDelivery(deps, tenant);
  for (const [id, action] of [
    [event, 'webhooks.events.replay'],
    [await failedEvent(deps, 'transfer.replayed'), 'provider-events.replay'],
  ] as const) {
    const { code, error } = await bursar(`events replay ${id} --json`, own);
    expect([id, code, error]).toEqual([id, 0, '']);
    expect(await entries().find({ target: id }).toArray()).toMatchObject([{ action }]);
  }
  for (const id of [newId('event'), newId('providerEvent')]) {
    const { code, error } = await bursar(`events replay ${id}`, own);
    expect([code, error]).toEqual([1, expect.stringContaining(`there is no event ${id}`)]);
  }
});

test('show prints the address of the workflow of a record in the Temporal UI', async () => {
  const { env: own } = await signedIn(['viewer']);
  const { id: tenant } = await deps.tenants.create({ name: 'Ada', plan: 'sandbox' });
  const transfer = pendingTransfer({ tenant_id: tenant });
  await database.db.collection<typeof transfer>('transfers').insertOne(transfer);
  const { out } = await bursar(`transfers show ${transfer._id} --json`, own);
  expect(JSON.parse(out).temporal_page).toBe(
    `http://127.0.0.1:8233/namespaces/bursar-sandbox/workflows/transfer%2F${transfer._id}`,
  );
});

test('the list of all that waits for an operator has the amount at stake, the longest waiting first', async () => {
  const { env: own } = await signedIn(['viewer']);
  const tenant = newId('tenant');
  const waiting = (amountMinor: bigint, since: string) => ({
    ...pendingTransfer({ tenant_id: tenant, amount_minor: amountMinor }),
    attention: { reason: 'the bank answers with errors', since: new Date(since) },
  });
  const [later, first] = [
    waiting(70_000n, '2026-11-27T02:10:00.000Z'),
    waiting(250_000n, '2026-11-27T02:00:00.000Z'),
  ];
  await database.db.collection<typeof first>('transfers').insertMany([later, first]);
  const { out } = await bursar('attention --json', own);
  const rows = (JSON.parse(out) as { tenant: string }[]).filter((row) => row.tenant === tenant);
  expect(rows).toMatchObject([
    { collection: 'transfers', id: first._id, amount_minor: 250_000 },
    { collection: 'transfers', id: later._id, amount_minor: 70_000 },
  ]);
});

test('a changed or removed entry is found by audit verify', async () => {
  const verify = async () => {
    const { code, out } = await bursar('audit verify --json', env);
    return [code, JSON.parse(out)];
  };
  await bursar('tenants create --name One --plan sandbox', env);
  await bursar('tenants create --name Two --plan sandbox', env);
  const [last] = await entries().find().sort({ _id: -1 }).limit(1).toArray();
  const { _id, ...fields } = last as AuditEntry;
  await entries().updateOne({ _id }, { $set: { target: 'another' } });
  expect(await verify()).toMatchObject([
    1,
    { ok: false, problems: [{ problem: 'entry was changed' }] },
  ]);
  await entries().deleteOne({ _id });
  expect(await verify()).toMatchObject([
    1,
    { ok: false, problems: [{ problem: 'entry is missing' }] },
  ]);
  await entries().insertOne({ _id, ...fields });
  expect(await verify()).toMatchObject([0, { ok: true }]);
});

test('a role permits exactly the operations that name it, and a refused act leaves its refusal alone', async () => {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { security: { operatorKey: OperatorRole[] }[] }>>;
  };
  const roles: OperatorRole[] = ['viewer', 'operator', 'approver', 'admin'];
  const refused = new Set<string>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { security }] of Object.entries(methods)) {
      const allowed = security[0]?.operatorKey ?? [];
      expect([path, method, allowed.length > 0]).toEqual([path, method, true]);
      if (method === 'get') expect(allowed).toEqual(roles);
      const at = path.replace('/operator/v1', '').replaceAll(/\{\w+\}/g, 'nobody');
      for (const role of roles) {
        if (allowed.includes(role)) continue;
        const { id, key } = await signedIn([role]);
        const { status } = await request(key, method.toUpperCase(), at, {});
        expect([method, path, role, status]).toEqual([method, path, role, 403]);
        refused.add(id);
      }
    }
  }
  const fresh = await entries()
    .find({ 'actor.operator': { $in: [...refused] } })
    .toArray();
  expect(fresh).toHaveLength(refused.size);
  for (const { after } of fresh) expect(after).toEqual({ refused: expect.any(String) });
});

test('a missing, unknown, revoked or disabled sign-in is refused at once', async () => {
  const admin = await signedIn(['admin']);
  const other = await signedIn(['operator']);
  const list = (key: string) => request(key, 'GET', '/tenants');
  expect(await list('')).toMatchObject({ status: 401 });
  expect(await list('sk_sandbox_0000')).toMatchObject({ body: { error: { code: 'invalid_key' } } });
  expect(await list(other.key)).toMatchObject({ status: 200 });
  await request(admin.key, 'PUT', `/operators/${other.id}`, { disabled: true });
  expect(await list(other.key)).toMatchObject({ body: { error: { code: 'unauthorized' } } });
  await request(admin.key, 'PUT', `/operators/${other.id}`, { disabled: false });
  const { _id } = (await database.db
    .collection<{ _id: string; operator_id: string }>('operator_keys')
    .findOne({ operator_id: other.id })) as { _id: string };
  expect(await request(admin.key, 'POST', `/operator-keys/${_id}/revoke`, {})).toMatchObject({
    status: 200,
  });
  expect(await list(other.key)).toMatchObject({ body: { error: { code: 'expired_key' } } });
  expect(
    await request(admin.key, 'PUT', `/operators/${admin.id}`, { roles: ['approver'] }),
  ).toMatchObject({
    status: 403,
  });
  expect(await deps.audit.latest({ target: admin.id }, 1)).toMatchObject([
    {
      action: 'operators.update',
      actor: { operator: admin.id },
      after: { refused: 'Another administrator changes your own account.' },
    },
  ]);
});

test('requests with a revoked key, and those of a viewer without the role, leave a few entries a minute, and acts of others go on', async () => {
  const [old, viewer, admin] = await Promise.all([
    signedIn(['operator']),
    signedIn(['viewer']),
    signedIn(['admin']),
  ]);
  for (const { _id } of await deps.operators.listKeys(old.id)) await deps.operators.revokeKey(_id);
  const flood = Array.from({ length: 40 }, (_, i) => i).flatMap((i) => [
    request(old.key, 'GET', `/tenants?of=${i}`),
    request(viewer.key, 'POST', `/transfers/trf_${i}/fail`, {}),
  ]);
  const body = { name: 'Meanwhile', plan: 'sandbox' };
  expect(await request(admin.key, 'POST', '/tenants', body)).toMatchObject({ status: 200 });
  const answers = await Promise.all(flood);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 403]));
  for (const { id } of [old, viewer]) {
    const left = await entries().countDocuments({ 'actor.operator': id });
    expect(left).toBeGreaterThanOrEqual(10);
    // A minute may begin in between.
    expect(left).toBeLessThanOrEqual(20);
  }
});

test('the comparison of records and each portion of a statement have their entries', async () => {
  const { id, key } = await signedIn(['operator']);
  const posted = (path: string, body: object) => request(key, 'POST', path, body);
  const only = { since: new Date().toISOString(), only: ['transfers'], per_second: 100 };
  expect(await posted('/reconciliations', only)).toMatchObject({ status: 200 });
  const { body: begun } = await posted('/statements', {
    provider: 'sandbox-bank',
    name: 'of the tests',
    sha256: 'a'.repeat(64),
    order: 'oldest_first',
    has_times: true,
  });
  const row = { amount_minor: 1, fee_minor: null, balance_minor: null, own: true };
  const rows = [1, 2].map((line) => ({ ...row, line, reference: null, at: only.since }));
  const target = (begun as { data: { id: string } }).data.id;
  expect(await posted(`/statements/${target}/rows`, { rows })).toMatchObject({ status: 200 });
  const last = { rows: rows.slice(1), last: true };
  expect(await posted(`/statements/${target}/rows`, last)).toMatchObject({ status: 200 });
  expect(await posted('/statements/of-nobody/rows', last)).toMatchObject({ status: 404 });
  const found = await entries().find({ 'actor.operator': id }).sort({ _id: 1 }).toArray();
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(found).toMatchObject([
    { action: 'reconcile', target: 'transfers', after: { since: only.since } },
    { action: 'statements.import' },
    {
      action: 'statements.rows',
      target,
      after: { first_line: 1, last_line: 2, is_last: false, sha256 },
    },
    { action: 'statements.rows', target, after: { first_line: 2, last_line: 2, is_last: true } },
  ]);
});

test('every refusal of the operator API is counted by its code: a guessed key, a revoked one, and an act beyond a role', async () => {
  const counts = async () => {
    const lines = (await deps.registry.metrics()).matchAll(
      /^bursar_operator_errors_total\{code="(\w+)"\} (\d+)$/gm,
    );
    return Object.fromEntries([...lines].map(([, code = '', count]) => [code, Number(count)]));
  };
  const before = await counts();
  const [viewer, revoked] = [await signedIn(['viewer']), await signedIn(['operator'])];
  const [made] = await deps.operators.listKeys(revoked.id);
  await deps.operators.revokeKey(String(made?._id));
  const guess = 'op_sandbox_guess';
  const force = { reason: 'the tests say so', force: true };
  expect(await request(guess, 'GET', '/me')).toMatchObject({ status: 401 });
  expect(await request(revoked.key, 'GET', '/me')).toMatchObject({ status: 401 });
  expect(await request(viewer.key, 'GET', '/me')).toMatchObject({ status: 200 });
  const failed = await request(viewer.key, 'POST', '/transfers/trf_x/fail', force);
  expect(failed).toMatchObject({ status: 403 });
  expect(await counts()).toEqual({
    ...before,
    invalid_key: Number(before['invalid_key']) + 1,
    expired_key: Number(before['expired_key']) + 1,
    forbidden: Number(before['forbidden']) + 1,
  });
});

test('who reads sees how far a verification of the ledger has come that has not ended', async () => {
  const { key } = await signedIn(['viewer']);
  const path = '/ledger/verification';
  expect((await request(key, 'GET', path)).status).toBe(404);
  await beginVerification(database.db, {});
  expect((await request(key, 'GET', path)).body).toMatchObject({
    data: { step: 'days', postings: 0, closed_days: 0, problems_found: 0 },
  });
});

test('an operator sees how far the own comparison has come while it is under way, and nobody else does', async () => {
  const [own, other] = [await signedIn(['operator']), await signedIn(['admin'])];
  const { id: tenant } = await deps.tenants.create({ name: 'Compared', plan: 'sandbox' });
  const transfers = Array.from({ length: 8 }, () => pendingTransfer({ tenant_id: tenant }));
  await database.db.collection<(typeof transfers)[number]>('transfers').insertMany(transfers);
  const path = '/reconciliations';
  const position = (key: string) => request(key, 'GET', path);
  expect((await position(own.key)).status).toBe(404);

  const since = new Date(Date.now() - 3_600_000).toISOString();
  const ended = request(own.key, 'POST', path, { since, per_second: 1, only: ['transfers'] });
  const seen = await eventually('the comparison is under way', async () => {
    const { data } = (await position(own.key)).body as { data?: { asked: number } };
    return data && data.asked > 0 ? data : undefined;
  });
  expect(Object.keys(seen)).toEqual(['asked', 'unanswered', 'differing', 'settled']);
  expect((await position(other.key)).status).toBe(404);
  expect((await request(own.key, 'GET', '/ledger/archiving')).status).toBe(404);

  const { data } = (await ended).body as { data: { summary: { asked: number } } };
  expect(data.summary.asked).toBeGreaterThanOrEqual(seen.asked);
  expect((await position(own.key)).status).toBe(404);
});
