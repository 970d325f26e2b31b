import { randomUUID } from 'node:crypto';
import type { Approval } from '../../../src/core/approvals/approval.js';
import type { AuditEntry } from '../../../src/core/audit/entry.js';
import type { Deps } from '../../../src/composition/deps.js';
import type { OperatorRole } from '../../../src/platform/operators/operator.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  createTestOperator,
  operatorDeps,
  operatorSignIn,
  stopOperatorApis,
} from '../../support/operators.js';

let database: TestDatabase;
let deps: Deps;
let url: string;
beforeAll(async () => {
  database = await openTestDatabase();
  const env = {
    MONGODB_URI: database.uri,
    BURSAR_DATABASE: database.name,
    BURSAR_KEY_PEPPER: 'a pepper that only the tests use, long enough',
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: 'a secret of the tests',
  };
  url = String((await operatorSignIn(env))['BURSAR_OPERATOR_URL']);
  deps = await operatorDeps(env);
});
afterAll(async () => {
  await stopOperatorApis();
  await database.close();
});

type Person = { id: string; key: string };
const person = (...roles: OperatorRole[]): Promise<Person> => createTestOperator(deps, roles);
const approvals = () => database.db.collection<Approval>('approvals');
const entries = () => database.db.collection<AuditEntry>('audit_log');

async function requestBy({ id }: Person): Promise<Approval> {
  const act = {
    id: randomUUID(),
    actor: { operator: id, name: 'a test', roles: [] },
    action: 'transfers.fail',
    target: `trf_${randomUUID()}`,
    tenantId: 'ten_nobody',
    reason: 'a test',
    requestId: null,
    approval: null,
  };
  const input = { params: { id: act.target }, body: { reason: 'a test', force: true } };
  return deps.approvals.request(act, { target_state: null, evidence: 'none', input });
}

const approve = (by: Person, { _id }: Approval) =>
  fetch(`${url}/operator/v1/approvals/${_id}/approve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by.key}`, 'content-type': 'application/json' },
    body: '{}',
  });

const set = (approval: Approval, fields: Partial<Approval>) =>
  approvals().updateOne({ _id: approval._id }, { $set: fields });

/** Prepares a forbidden act; returns the person who then tries it. */
type Forbidden = (approval: Approval, maker: Person) => Promise<Person>;
const FORBIDDEN: Record<string, Forbidden> = {
  'the own request': async (_, maker) => maker,
  'a used approval': async (approval) => {
    await set(approval, { status: 'used', used_by: 'another' });
    return person('approver');
  },
  'a rejected request': async (approval) => {
    await set(approval, { status: 'rejected' });
    return person('approver');
  },
  'an approval of somebody else': async (approval) => {
    const other = { operator: 'opr_other', name: 'another', roles: [] };
    await set(approval, { status: 'approved', decided_by: other });
    return person('approver');
  },
  'an expired request': async (approval) => {
    await set(approval, { expires_at: new Date(Date.now() - 1) });
    return person('approver');
  },
  'a changed target': async (approval) => {
    await set(approval, { target_state: { status: 'processing', submissions: 1 } });
    return person('approver');
  },
  'the role of an operator': () => person('operator'),
  'the role of an admin': () => person('admin'),
  'the role of a viewer': () => person('viewer'),
  'a revoked key': async () => {
    const revoked = await person('approver');
    const [key] = await deps.operators.listKeys(revoked.id);
    await deps.operators.revokeKey(String(key?._id));
    return revoked;
  },
  'a disabled account': async () => {
    const disabled = await person('approver');
    await deps.operators.update(disabled.id, { disabled: true });
    return disabled;
  },
};

test('no forbidden act of 220 takes effect, and each is in the audit log with the person who tried it', async () => {
  const maker = await person('operator', 'approver');
  const kinds = Object.entries(FORBIDDEN);
  for (let i = 0; i < 220; i += 1) {
    const [name, prepare] = kinds[i % kinds.length] as [string, Forbidden];
    const approval = await requestBy(maker);
    const by = await prepare(approval, maker);
    const before = await approvals().findOne({ _id: approval._id });
    const mark = await entries().countDocuments();
    const { status } = await approve(by, approval);
    expect([name, status]).toEqual([name, expect.any(Number)]);
    expect([401, 403, 422]).toContain(status);
    const after = await approvals().findOne({ _id: approval._id });
    expect([name, after?.used_by]).toEqual([name, before?.used_by]);
    const isVoid = name === 'a changed target';
    expect([name, after?.status]).toEqual([name, isVoid ? 'void' : before?.status]);
    const fresh = await entries()
      .find({ _id: { $gt: mark }, 'actor.operator': by.id })
      .toArray();
    expect([name, fresh.length]).toEqual([name, isVoid ? 2 : 1]);
  }
  expect((await deps.audit.verify()).problems).toEqual([]);
}, 240_000);
