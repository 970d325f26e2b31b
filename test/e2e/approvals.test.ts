import type { Approval } from '../../src/core/approvals/approval.js';
import type { AuditEntry } from '../../src/core/audit/entry.js';
import type { Deps } from '../../src/composition/deps.js';
import type { OperatorRole } from '../../src/platform/operators/operator.js';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { eventually } from '../support/eventually.js';
import {
  createTestOperator,
  operatorDeps,
  operatorSignIn,
  stopOperatorApis,
} from '../support/operators.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

const BALANCE_MINOR = 10_000_000;
const REASON = 'the customer cannot wait, ticket 12';

let service: Service;
let deps: Deps;
let url: string;
let tenant: TestTenant;
beforeAll(async () => {
  service = await shareService();
  url = String((await operatorSignIn(service.env))['BURSAR_OPERATOR_URL']);
  deps = await operatorDeps(service.env);
  tenant = await service.tenant({ balanceMinor: BALANCE_MINOR });
});
afterAll(async () => {
  await stopOperatorApis();
  await service?.close();
});

type Person = Awaited<ReturnType<typeof person>>;
async function person(...roles: OperatorRole[]) {
  const { id, key } = await createTestOperator(deps, roles);
  const post = async (path: string, body: object = {}) => {
    const response = await fetch(`${url}/operator/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as {
      data: Record<string, unknown>;
      error: { code: string };
    };
    return { status: response.status, ...answer };
  };
  return { id, post };
}

/** A transfer that the bank has accepted and has not decided. */
async function stuck(): Promise<string> {
  const id = await tenant.send('006');
  await eventually(`the bank knows ${id}`, async () =>
    (await tenant.stored(id)).timeline.some(({ type }) => type === 'provider_answer')
      ? true
      : undefined,
  );
  return id;
}

const stored = (id: string) =>
  service.deps.database.db.collection<Approval>('approvals').findOne({ _id: id });
const entriesOf = (target: string) =>
  service.deps.database.db
    .collection<AuditEntry>('audit_log')
    .find({ target })
    .sort({ _id: 1 })
    .toArray();

async function request(maker: Person, id: string, kind = 'fail'): Promise<string> {
  const answer = await maker.post(`/transfers/${id}/${kind}`, { reason: REASON, force: true });
  expect(answer).toMatchObject({ status: 200, data: { done: false, status: 'processing' } });
  expect(answer.data['approval']).toMatch(/^apr_/);
  return String(answer.data['approval']);
}

test('a forced fail waits for another person, who is shown the bank’s answer, and is in the audit log', async () => {
  const [maker, approver] = await Promise.all([person('operator', 'approver'), person('approver')]);
  const id = await stuck();
  const approval = await request(maker, id);
  expect(await tenant.get(id)).toMatchObject({ status: 'processing' });

  expect(await maker.post(`/approvals/${approval}/approve`)).toMatchObject({ status: 403 });
  expect(await (await person('operator')).post(`/approvals/${approval}/approve`)).toMatchObject({
    status: 403,
  });
  expect(await stored(approval)).toMatchObject({ status: 'pending' });
  expect(await tenant.get(id)).toMatchObject({ status: 'processing' });

  const approved = await approver.post(`/approvals/${approval}/approve`);
  expect(approved).toMatchObject({
    status: 200,
    data: { done: true, status: 'used', message: expect.stringContaining('pending') },
  });
  expect(await tenant.get(id)).toMatchObject({ status: 'failed', failure: { code: 'operator' } });
  expect(await approver.post(`/approvals/${approval}/approve`)).toMatchObject({ status: 422 });

  const acts = await entriesOf(id);
  expect(acts.map(({ action, actor }) => [action, actor.operator])).toEqual([
    ['approvals.request', maker.id],
    ['transfers.fail', approver.id],
  ]);
  expect(acts[1]).toMatchObject({
    approval,
    before: { status: 'processing' },
    after: { status: 'failed' },
  });
  const decisions = await entriesOf(approval);
  expect(decisions.map(({ action }) => action)).toEqual([
    'approvals.refused',
    'approvals.approve',
    'approvals.close',
    'approvals.refused',
  ]);
  const { problems } = await deps.audit.verify();
  expect(problems).toEqual([]);
});

test('of two approvers at once one is let through, and the transfer ends once', async () => {
  const [maker, one, other] = await Promise.all([
    person('operator'),
    person('approver'),
    person('approver'),
  ]);
  const id = await stuck();
  const approval = await request(maker, id);
  const before = await tenant.balance();
  const answers = await Promise.all(
    [one, other].map((each) => each.post(`/approvals/${approval}/approve`)),
  );
  expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '422']);
  expect(await tenant.get(id)).toMatchObject({ status: 'failed' });
  const { fee_minor: fee, amount_minor: amount } = await tenant.get(id);
  expect((await tenant.balance()).available).toBe(before.available + amount + fee);
});

test('a signal with force releases nothing: it becomes a request of somebody who says to be the sender, and needs two people', async () => {
  const [first, second] = await Promise.all([person('approver'), person('approver')]);
  const id = await stuck();
  const handle = service.deps.temporal.client.workflow.getHandle(transferWorkflowId(id));
  const message = { actor: 'chief-financial-officer', reason: REASON, force: true };
  await handle.signal('fail', message);
  const approval = await eventually('the signal is a request', async () => {
    const found = await service.deps.database.db
      .collection<Approval>('approvals')
      .findOne({ target: id });
    return found ?? undefined;
  });
  expect(approval).toMatchObject({
    status: 'pending',
    maker: { operator: null, name: 'chief-financial-officer', claim: true },
  });
  expect(await tenant.get(id)).toMatchObject({ status: 'processing' });
  const approve = (by: Person) => by.post(`/approvals/${approval._id}/approve`);
  expect(await approve(first)).toMatchObject({ data: { done: false, maker: first.id } });
  expect(await approve(first)).toMatchObject({ status: 403 });
  expect(await tenant.get(id)).toMatchObject({ status: 'processing' });
  expect(await approve(second)).toMatchObject({ data: { done: true, status: 'used' } });
  expect(await tenant.get(id)).toMatchObject({ status: 'failed' });

  const command = await service.deps.database.db
    .collection<{ _id: string }>('operator_commands')
    .findOne({ target: id });
  const again = await stuck();
  const other = service.deps.temporal.client.workflow.getHandle(transferWorkflowId(again));
  await other.signal('fail', { ...message, command: command?._id });
  await eventually('the replayed command is a claim', async () => {
    const found = await entriesOf(again);
    return found.some(({ actor }) => actor.claim) ? true : undefined;
  });
  expect(await tenant.get(again)).toMatchObject({ status: 'processing' });
});

test('a target that changed since the request voids it, and an expired request is refused', async () => {
  const [maker, approver] = await Promise.all([person('operator'), person('approver')]);
  const paid = await stuck();
  const changed = await request(maker, paid);
  await service.bank.decideTransfer(paid, 'paid');
  await tenant.waitFor(paid, 'completed');
  expect(await approver.post(`/approvals/${changed}/approve`)).toMatchObject({ status: 422 });
  expect(await stored(changed)).toMatchObject({ status: 'void' });
  expect(await tenant.get(paid)).toMatchObject({ status: 'completed' });

  const id = await stuck();
  const expired = await request(maker, id);
  await service.deps.database.db
    .collection<Approval>('approvals')
    .updateOne({ _id: expired }, { $set: { expires_at: new Date() } });
  expect(await approver.post(`/approvals/${expired}/approve`)).toMatchObject({ status: 422 });
  expect(await tenant.get(id)).toMatchObject({ status: 'processing' });
});

test('a forced complete captures the hold only with an approval', async () => {
  const [maker, approver] = await Promise.all([person('operator'), person('approver')]);
  const id = await stuck();
  const approval = await request(maker, id, 'complete');
  expect(await approver.post(`/approvals/${approval}/approve`)).toMatchObject({
    data: { done: true, status: 'used' },
  });
  expect(await tenant.get(id)).toMatchObject({ status: 'completed' });
  await service.bank.decideTransfer(id, 'paid');
});

test('an approved complete of another amount captures that amount with its session id, and leaves the rest in the wallet', async () => {
  const [maker, approver] = await Promise.all([person('operator'), person('approver')]);
  const before = await tenant.balance();
  const id = await stuck();
  const { amount_minor: ordered, fee_minor: fee } = await tenant.get(id);
  const stated = { amount_minor: ordered - 1_000, session_id: 'seen-on-paper' };
  const body = { reason: REASON, force: true, ...stated };
  const asked = await maker.post(`/transfers/${id}/complete`, body);
  const approval = String(asked.data['approval']);
  expect(await stored(approval)).toMatchObject({ input: { body: stated } });
  expect(await approver.post(`/approvals/${approval}/approve`)).toMatchObject({
    data: { done: true, status: 'used' },
  });
  expect(await tenant.get(id)).toMatchObject({
    status: 'completed',
    settled_amount_minor: ordered - 1_000,
    session_id: 'seen-on-paper',
  });
  expect((await tenant.balance()).available).toBe(before.available - (ordered - 1_000) - fee);
  await service.bank.setTransferOutcome(id, 'paid', ordered - 1_000);
});

test('an approved complete of the amount that the bank reports by then ends the transfer with it', async () => {
  const [maker, approver] = await Promise.all([person('operator'), person('approver')]);
  const id = await stuck();
  const { amount_minor: ordered } = await tenant.get(id);
  const body = { reason: REASON, force: true, amount_minor: ordered + 500 };
  const asked = await maker.post(`/transfers/${id}/complete`, body);
  await service.bank.setTransferOutcome(id, 'paid', ordered + 500);
  await tenant.waitFor(id, (transfer) => transfer.attention !== null);
  expect(await approver.post(`/approvals/${String(asked.data['approval'])}/approve`)).toMatchObject(
    {
      data: { done: true, status: 'used' },
    },
  );
  expect(await tenant.get(id)).toMatchObject({
    status: 'completed',
    settled_amount_minor: ordered + 500,
  });
});

test('tenants read that an operator acted and what became of it, but neither who nor why', async () => {
  const maker = await person('operator');
  const id = await stuck();
  for (const kind of ['retry', 'verify', 'complete', 'fail']) {
    await maker.post(`/transfers/${id}/${kind}`, { reason: REASON });
  }
  const response = await fetch(`${service.api.url}/api/v1/transfers/${id}/timeline`, {
    headers: { authorization: `Bearer ${tenant.key}` },
  });
  const text = await response.text();
  expect(text).toContain('"actor":"operator"');
  expect(text).toContain('Not completed');
  for (const secret of [REASON, maker.id, 'Test operator']) expect(text).not.toContain(secret);
});
