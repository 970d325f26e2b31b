import { inspect } from 'node:util';
import type { Approval } from '../../../src/core/approvals/approval.js';
import type { AuditEntry } from '../../../src/core/audit/entry.js';
import type { OperatorRole } from '../../../src/platform/operators/operator.js';
import { bursar } from '../../support/cli.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { stopOperatorApis } from '../../support/operators.js';
import { POLICY_OF_ALL, startPolicyApi } from '../../support/policy-acts.js';

let database: TestDatabase;
let all: Awaited<ReturnType<typeof startPolicyApi>>;
let forced: typeof all;

beforeAll(async () => {
  database = await openTestDatabase();
  all = await startPolicyApi(database, POLICY_OF_ALL);
  forced = await startPolicyApi(database, { BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true' });
});
afterAll(async () => {
  await stopOperatorApis();
  await database.close();
});

const stored = (id: unknown) =>
  database.db.collection<Approval>('approvals').findOne({ _id: String(id) });
const entriesOf = (approval: unknown) =>
  database.db
    .collection<AuditEntry>('audit_log')
    .find({ approval: String(approval) })
    .toArray();

test.each(['credit', 'raise', 'refund', 'returned'] as const)(
  'with BURSAR_APPROVALS=all a %s waits with its whole input, and takes effect once, when another person approves it',
  async (name) => {
    const [maker, approver] = await Promise.all([
      all.person('operator', 'approver'),
      all.person('approver'),
    ]);
    const act = await all.acts[name]();
    const asked = await maker.send(act);
    expect(asked).toMatchObject({ status: 200, data: { done: false } });
    const { approval } = asked.data;
    expect(await stored(approval)).toMatchObject({
      kind: act.kind,
      target: act.target,
      input: { body: act.body },
      status: 'pending',
    });
    expect(await act.effects()).toBe(0);
    expect(await maker.approve(approval)).toMatchObject({ status: 403 });
    expect(await act.effects()).toBe(0);
    expect(await approver.approve(approval)).toMatchObject({
      status: 200,
      data: { done: true, status: 'used' },
    });
    expect(await act.effects()).toBe(1);
    expect(await entriesOf(approval)).toMatchObject([
      { action: act.kind, target: act.target, actor: { operator: approver.id } },
    ]);
    expect(await approver.approve(approval)).toMatchObject({ status: 422 });
    expect(await act.effects()).toBe(1);
  },
);

test('a customer’s account waits sealed for its approval, and the person who approves it sees its last digits', async () => {
  const [maker, approver] = await Promise.all([all.person('operator'), all.person('approver')]);
  const act = await all.acts.resume();
  const { approval } = (await maker.send(act)).data;
  const clear = '0123456789';
  expect(JSON.stringify(await stored(approval))).not.toContain(clear);
  const shown = await approver.call('GET', `/approvals/${String(approval)}`);
  expect(shown.data).toMatchObject({
    kind: act.kind,
    input: { body: { account_number: '******6789', bank_code: '058' } },
  });
  expect(await act.effects()).toBe(0);
  const done = await approver.approve(approval);
  expect(done).toMatchObject({ status: 200, data: { done: true, status: 'used' } });
  expect(await act.effects()).toBe(1);
  const refund = await all.deps.refunds.store.find(act.target);
  expect(refund?.customer_account).toEqual({ number: clear, bank_code: '058' });
  const raw = await database.db.collection<{ _id: string }>('refunds').findOne({ _id: act.target });
  const texts = [raw, shown, done, await stored(approval), await entriesOf(approval)];
  expect(inspect(texts, { depth: null })).not.toContain(clear);
});

test.each(['key', 'endpoint', 'rotatedSecret'] as const)(
  'the secret of an approved %s is shown once, to the person who asked, who repeats the command',
  async (name) => {
    const [maker, other, approver] = await Promise.all([
      all.person('operator'),
      all.person('operator'),
      all.person('approver'),
    ]);
    const act = await all.acts[name]();
    const { approval } = (await maker.send(act)).data;
    expect(await approver.approve(approval)).toMatchObject({
      data: { done: false, status: 'approved', message: expect.stringContaining('repeats') },
    });
    expect(await act.effects()).toBe(0);
    // Somebody else, and another input, are new requests.
    expect(await other.send(act)).toMatchObject({ data: { done: false } });
    const changed = { ...act, body: { ...act.body, reason: 'another' } };
    expect(await maker.send(changed)).toMatchObject({ data: { done: false } });
    expect(await act.effects()).toBe(0);

    const [one, two] = await Promise.all([maker.send(act), maker.send(act)]);
    expect(await act.effects()).toBe(1);
    const secrets = [one, two].map(({ data }) => data?.['key'] ?? data?.['secret']);
    for (const { status } of [one, two]) expect([200, 422]).toContain(status);
    expect(secrets.filter((secret) => typeof secret === 'string')).toHaveLength(1);
    expect(await stored(approval)).toMatchObject({ status: 'used' });
    expect(await entriesOf(approval)).toMatchObject([
      { action: act.kind, actor: { operator: maker.id } },
    ]);
    const texts = JSON.stringify([
      await entriesOf(approval),
      await stored(approval),
      (await approver.approve(approval)).data ?? null,
    ]);
    for (const secret of secrets) if (secret !== undefined) expect(texts).not.toContain(secret);
    expect(await maker.send(act)).toMatchObject({ data: { done: false } });
    expect(await act.effects()).toBe(1);
  },
);

test('an approved request for a secret is listed until its maker collects it, and can be rejected before', async () => {
  const [maker, approver] = await Promise.all([all.person('operator'), all.person('approver')]);
  const act = await all.acts.key();
  const id = String((await maker.send(act)).data['approval']);
  const isListed = async () => {
    const rows = (await maker.call('GET', '/approvals?open=true')).data;
    return (rows as unknown as { id: string }[]).some((row) => row.id === id);
  };
  await approver.approve(id);
  expect(await isListed()).toBe(true);
  const reject = () => maker.call('POST', `/approvals/${id}/reject`, { reason: 'not needed' });
  expect(await reject()).toMatchObject({ status: 200, data: { status: 'rejected' } });
  expect(await isListed()).toBe(false);
  expect(await reject()).toMatchObject({ status: 422 });
  expect(await maker.send(act)).toMatchObject({ data: { done: false } });
  expect(await act.effects()).toBe(0);
});

test('a request is rejected without a reason', async () => {
  const maker = await all.person('operator');
  const { approval } = (await maker.send(await all.acts.credit())).data;
  const signIn = { BURSAR_OPERATOR_URL: all.url, BURSAR_OPERATOR_KEY: maker.key };
  const ran = await bursar(`approvals reject ${String(approval)} --json`, signIn);
  expect([ran.code, ran.error]).toEqual([0, '']);
  expect(JSON.parse(ran.out)).toMatchObject({ status: 'rejected', result: null });
  expect(await stored(approval)).toMatchObject({ status: 'rejected' });
});

/** The ways in which an account loses its right to an act. */
const REVOCATIONS: [string, { disabled?: boolean; roles?: OperatorRole[] }][] = [
  ['disabled', { disabled: true }],
  ['without its role', { roles: ['viewer'] }],
];

test.each([...REVOCATIONS, ['an approver only', { roles: ['approver'] }]] as typeof REVOCATIONS)(
  'a request is void, and its act not carried out, if its maker is %s when it is approved',
  async (_, change) => {
    const approver = await all.person('approver');
    for (const name of ['credit', 'key'] as const) {
      const maker = await all.person('operator', 'approver');
      const act = await all.acts[name]();
      const { approval } = (await maker.send(act)).data;
      await all.deps.operators.update(maker.id, change);
      expect(await approver.approve(approval)).toMatchObject({ status: 422 });
      expect(await act.effects()).toBe(0);
      expect(await stored(approval)).toMatchObject({
        status: 'void',
        result: expect.stringContaining('maker'),
      });
    }
  },
);

test.each(REVOCATIONS)(
  'an approved secret is not shown, and is asked for again, if its approver is %s when it is collected',
  async (_, change) => {
    const [maker, approver, other] = await Promise.all([
      all.person('operator'),
      all.person('approver'),
      all.person('approver'),
    ]);
    for (const name of ['key', 'endpoint', 'rotatedSecret'] as const) {
      const act = await all.acts[name]();
      const { approval } = (await maker.send(act)).data;
      await all.deps.operators.update(approver.id, { disabled: false, roles: ['approver'] });
      await approver.approve(approval);
      await all.deps.operators.update(approver.id, change);
      const again = await maker.send(act);
      expect(again).toMatchObject({ data: { done: false, approval: expect.any(String) } });
      expect(await act.effects()).toBe(0);
      expect(await stored(approval)).toMatchObject({ status: 'void' });
      await other.approve(again.data['approval']);
      await maker.send(act);
      expect(await act.effects()).toBe(1);
    }
  },
);

test('who stands for a request from the Temporal UI must still be an approver when another person approves it', async () => {
  const [stands, approver] = await Promise.all([all.person('approver'), all.person('approver')]);
  for (const roles of [['approver'], ['viewer']] as const) {
    const act = await all.acts.credit();
    const { approval } = (await (await all.person('operator')).send(act)).data;
    const maker = { operator: null, name: 'somebody', roles: [], claim: true as const };
    await database.db
      .collection<Approval>('approvals')
      .updateOne({ _id: String(approval) }, { $set: { maker } });
    expect(await stands.approve(approval)).toMatchObject({ data: { maker: stands.id } });
    await all.deps.operators.update(stands.id, { roles: [...roles] });
    const isApprover = roles[0] === 'approver';
    expect((await approver.approve(approval)).status).toBe(isApprover ? 200 : 422);
    expect(await act.effects()).toBe(isApprover ? 1 : 0);
  }
});

test('what the policy does not name is done at once: small credits, lower limits, and everything with BURSAR_APPROVALS=forced', async () => {
  const maker = await all.person('operator');
  const credit = await all.acts.credit();
  const small = { ...credit, body: { ...credit.body, amount_minor: 1_000 } };
  expect(await maker.send(small)).toMatchObject({ data: { available_minor: 1_000 } });
  const raise = await all.acts.raise();
  const lower = { ...raise, body: { daily_limit_minor: 5, safeguards: { kyc: 3 } } };
  expect(await maker.send(lower)).toMatchObject({ data: { daily_limit_minor: 5 } });
  expect(await raise.effects()).toBe(1);

  const free = await forced.person('operator');
  for (const name of [
    'credit',
    'raise',
    'key',
    'endpoint',
    'rotatedSecret',
    'refund',
    'resume',
  ] as const) {
    const act = await forced.acts[name]();
    const { status, data } = await free.send(act);
    expect([name, status, data['approval'], await act.effects()]).toEqual([
      name,
      200,
      undefined,
      1,
    ]);
  }
});

test('keys of the sandbox are made and rotated at once, also with BURSAR_APPROVALS=all', async () => {
  const above = { BURSAR_APPROVAL_CREDIT_ABOVE_MINOR: '999' };
  const sandbox = await startPolicyApi(database, { ...POLICY_OF_ALL, ...above }, { keys: false });
  const maker = await sandbox.person('operator');
  const { data } = await maker.send(await sandbox.acts.key());
  expect(data).toEqual({ id: expect.any(String), key: expect.any(String) });
  const rotated = await maker.call('POST', `/keys/${String(data['id'])}/rotate`, {
    overlap_hours: 1,
  });
  expect(rotated).toMatchObject({ status: 200, data: { key: expect.any(String) } });
  expect(await maker.send(await sandbox.acts.credit())).toMatchObject({ data: { done: false } });
});

test('a new tenant above the usual limits, a rotated key and a reconciliation wait too', async () => {
  const maker = await all.person('operator');
  const { tenant } = (await all.acts.key()).body as { tenant: string };
  const key = await all.deps.apiKeys.create({ tenantId: tenant, level: 'write', kind: 'secret' });
  const since = new Date().toISOString();
  for (const [path, body] of [
    ['/tenants', { name: 'Bayo', plan: 'starter', daily_limit_minor: 1_000_000_001 }],
    ['/tenants', { name: 'Bayo', plan: 'starter', rate_per_minute: 1_001 }],
    [`/keys/${key.id}/rotate`, { overlap_hours: 1 }],
    ['/reconciliations', { since, apply: true, per_second: 10 }],
  ] as const) {
    const { data } = await maker.call('POST', path, body);
    expect([path, data]).toEqual([path, expect.objectContaining({ done: false })]);
    expect(await stored(data['approval'])).toMatchObject({ input: { body } });
  }
  expect(await database.db.collection('tenants').countDocuments({ name: 'Bayo' })).toBe(0);
  const usual = { name: 'Bayo', plan: 'starter', daily_limit_minor: 1_000_000_000 };
  expect((await maker.call('POST', '/tenants', usual)).data).toHaveProperty('id');
});

test('a target that changes between the approval and the act leaves it undone, and the request is void', async () => {
  const [maker, approver] = await Promise.all([all.person('operator'), all.person('approver')]);
  for (const name of ['raise', 'refund', 'returned', 'resume'] as const) {
    const act = await all.acts[name]();
    const { approval } = (await maker.send(act)).data;
    // Approved, but not carried out: the process died in between.
    const { id: operator } = approver;
    const decided = { operator, name: 'a test', roles: [] };
    await database.db
      .collection<Approval>('approvals')
      .updateOne({ _id: String(approval) }, { $set: { status: 'approved', decided_by: decided } });
    await act.changeTarget?.();
    expect(await approver.approve(approval)).toMatchObject({ status: 422 });
    expect(await act.effects()).toBe(0);
    expect(await stored(approval)).toMatchObject({ status: 'void' });
  }
});
