import { randomUUID } from 'node:crypto';
import type { Approval } from '../../src/core/approvals/approval.js';
import type { AuditEntry } from '../../src/core/audit/entry.js';
import { stateOf } from '../../src/ops/operator-api/target-states.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { stopOperatorApis } from '../support/operators.js';
import { POLICY_OF_ALL, startPolicyApi, type PolicyAct } from '../support/policy-acts.js';

/** Forbidden acts in all, spread over every way and every kind of act. */
const ACTS = 1_000;

let database: TestDatabase;
let api: Awaited<ReturnType<typeof startPolicyApi>>;
let deps: typeof api.deps;
let person: typeof api.person;
let people: Awaited<ReturnType<typeof createPeople>>;
beforeAll(async () => {
  database = await openTestDatabase();
  api = await startPolicyApi(database, POLICY_OF_ALL);
  ({ deps, person } = api);
  people = await createPeople();
});
afterAll(async () => {
  await stopOperatorApis();
  await database.close();
});

type Person = Awaited<ReturnType<typeof person>>;

async function createPeople() {
  const [maker, other, one, two, viewer, admin, disabled] = await Promise.all([
    person('operator', 'approver', 'admin'),
    person('operator', 'admin'),
    person('approver'),
    person('operator', 'approver'),
    person('viewer'),
    person('admin'),
    person('approver'),
  ]);
  await deps.operators.update(disabled.id, { disabled: true });
  return { maker, other, one, two, viewer, admin, disabled };
}

const approvals = () => database.db.collection<Approval>('approvals');
const entries = () => database.db.collection<AuditEntry>('audit_log');
const set = (approval: string, fields: Partial<Approval>) =>
  approvals().updateOne({ _id: approval }, { $set: fields });

async function revoke({ id }: Person): Promise<void> {
  for (const key of await deps.operators.listKeys(id)) await deps.operators.revokeKey(key._id);
}

/** Asks for the act, as its maker does. The request of a forced command comes from its workflow. */
async function ask(maker: Person, act: PolicyAct): Promise<string> {
  const { kind, target, body } = act;
  if (kind !== 'transfers.fail') return String((await maker.send(act)).data['approval']);
  const of = {
    id: randomUUID(),
    actor: { operator: maker.id, name: 'a test', roles: [] },
    action: kind,
    target,
    tenantId: 'ten_a',
    reason: 'a test',
    requestId: null,
    approval: null,
  };
  const target_state = await stateOf(deps, { kind, target });
  const input = { params: { id: target }, body: body as Approval['input']['body'] };
  return (await deps.approvals.request(of, { target_state, evidence: 'silence', input }))._id;
}

/** A forbidden act: who tries it, and how. `logged` are the entries of the audit log that it leaves, and no others. */
type Answer = { status: number; data: Record<string, unknown> };
type Attempt = { by: Person; tries: () => Promise<Answer>; logged: object[] };
type Way = (subject: { act: PolicyAct; approval: string }) => Promise<Attempt> | Attempt;

/** The operation to which an act of this kind is sent. */
const OPERATIONS: Record<string, string> = {
  'wallets.credit': 'creditWallet',
  'tenants.update': 'updateTenant',
  'keys.create': 'createKey',
  'webhooks.endpoints.add': 'addEndpoint',
  'deposits.return': 'returnDeposit',
  'charges.return': 'returnPayment',
  'refunds.resume': 'resumeRefund',
  'transfers.fail': 'transfers.fail',
};

const REFUSED = { refused: expect.any(String) };
/** The sign-in or the role was refused: the act is the operation that was called. */
const refusedAt = (action: string) => ({ action, target: 'refused', after: REFUSED });
/** The approval does not permit the act. */
const refusedFor = (target: string) => ({ action: 'approvals.refused', target, after: REFUSED });
const requestedFor = ({ target }: PolicyAct) => ({
  action: 'approvals.request',
  target,
  after: { approval: expect.stringMatching(/^apr_/) },
});

const approveBy = (by: Person, approval: string): Attempt => ({
  by,
  tries: () => by.approve(approval),
  logged: [refusedFor(approval)],
});
const withoutRight = (by: Person, approval: string): Attempt => ({
  ...approveBy(by, approval),
  logged: [refusedAt('approveApproval')],
});
const collectBy = (by: Person, act: PolicyAct): Attempt => ({
  by,
  tries: () => by.send(act),
  logged: [requestedFor(act)],
});
const afterSetting =
  (fields: () => Partial<Approval>): Way =>
  async ({ approval }) => {
    await set(approval, fields());
    return approveBy(people.one, approval);
  };

const WAYS: Record<string, Way> = {
  'an approval of the own request': ({ approval }) => approveBy(people.maker, approval),
  'the role of an operator': ({ approval }) => withoutRight(people.other, approval),
  'the role of an admin': ({ approval }) => withoutRight(people.admin, approval),
  'the role of a viewer': ({ approval }) => withoutRight(people.viewer, approval),
  'a viewer who sends the act itself': ({ act }) => ({
    by: people.viewer,
    tries: () => people.viewer.send(act),
    logged: [refusedAt(OPERATIONS[act.kind] as string)],
  }),
  'a disabled account': ({ approval }) => withoutRight(people.disabled, approval),
  'a sign-in that is revoked before': async ({ approval }) => {
    const by = await person('approver');
    expect(await by.call('GET', `/approvals/${approval}`)).toMatchObject({ status: 200 });
    await revoke(by);
    return withoutRight(by, approval);
  },
  'a sign-in that is revoked in the middle of the request': async ({ approval }) => {
    const by = await person('approver');
    const tries = () => by.approveAround(approval, () => revoke(by));
    return { ...withoutRight(by, approval), tries };
  },
  'an expired request': afterSetting(() => ({ expires_at: new Date(Date.now() - 1) })),
  'a rejected request': afterSetting(() => ({ status: 'rejected' })),
  'an approval of somebody else': afterSetting(() => ({
    status: 'approved',
    decided_by: { operator: people.two.id, name: 'another', roles: [] },
  })),
  'an approval that has expired since': afterSetting(() => ({
    status: 'approved',
    decided_by: { operator: people.one.id, name: 'the same', roles: [] },
    expires_at: new Date(Date.now() - 1),
  })),
};

/** Only for targets whose state the act depends on. */
const changedTarget: Way = async ({ act, approval }) => {
  await act.changeTarget?.();
  const logged = [{ action: 'approvals.void', target: approval }, refusedFor(approval)];
  return { ...approveBy(people.one, approval), logged };
};

/** Only for acts that an approval carries out without a workflow. */
const replay: Way = async ({ approval }) => {
  expect(await people.one.approve(approval)).toMatchObject({ data: { done: true } });
  return approveBy(people.two, approval);
};

/** Only for acts that their maker carries out after the approval. */
const COLLECTED_WAYS: Record<string, Way> = {
  'somebody else who collects the secret': async ({ act, approval }) => {
    await people.one.approve(approval);
    return collectBy(people.other, act);
  },
  'the secret of an approval that is used': async ({ act, approval }) => {
    await people.one.approve(approval);
    expect(await people.maker.send(act)).toMatchObject({ status: 200 });
    return collectBy(people.maker, act);
  },
  'the secret of an approval that has expired': async ({ act, approval }) => {
    await people.one.approve(approval);
    await set(approval, { expires_at: new Date(Date.now() - 1) });
    return collectBy(people.maker, act);
  },
};

/** Expects that the attempt is refused, or becomes a request, has no effect, and leaves exactly its own entries in the audit log. */
async function expectNothing(name: string, act: PolicyAct, attempt: Attempt): Promise<void> {
  const { by, tries, logged } = attempt;
  const before = await act.effects();
  const mark = await entries().countDocuments();
  const { status, data } = await tries();
  const became = status === 200 ? data['done'] : status;
  const isRefused = [401, 403, 422, false].includes(became as number | false);
  expect([name, became, isRefused]).toEqual([name, became, true]);
  expect([name, await act.effects()]).toEqual([name, before]);
  const fresh = await entries()
    .find({ _id: { $gt: mark } })
    .sort({ _id: 1 })
    .toArray();
  const own = logged.map((entry) => ({ ...entry, actor: { operator: by.id } }));
  expect([name, fresh]).toMatchObject([name, own]);
}

/** Two approvers at once: one is let through, and the act takes effect once, or is left to its maker. */
async function expectOnce(act: PolicyAct, approval: string, times: number): Promise<void> {
  const mark = await entries().countDocuments();
  const both = [people.one, people.two];
  const answers = await Promise.all(both.map((each) => each.approve(approval)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
  expect(await act.effects()).toBe(times);
  const loser = both[answers.findIndex(({ status }) => status === 422)] as Person;
  const refused = { _id: { $gt: mark }, 'actor.operator': loser.id, action: 'approvals.refused' };
  expect(await entries().find(refused).toArray()).toHaveLength(1);
}

const isCollected = ({ kind }: PolicyAct) =>
  kind === 'keys.create' || kind === 'webhooks.endpoints.add';

/** The ways of a kind of act; the last of those that need no workflow is null: two approvers at once. */
function waysOf(act: PolicyAct): ([string, Way] | null)[] {
  const collected = isCollected(act);
  const direct = !collected && act.kind !== 'transfers.fail';
  return [
    ...Object.entries(WAYS),
    ...(act.changeTarget ? [['a changed target', changedTarget] as [string, Way]] : []),
    ...(collected ? Object.entries(COLLECTED_WAYS) : []),
    ...(direct ? [['a replayed approval', replay] as [string, Way]] : []),
    ...(act.kind === 'transfers.fail' ? [] : [null]),
  ];
}

test(`no forbidden act of ${ACTS} takes effect, and each is in the audit log with the person who tried it`, async () => {
  const make = api.acts;
  const kinds = Object.values(make);
  for (let i = 0; i < ACTS; i += 1) {
    const act = await (kinds[i % kinds.length] as (typeof kinds)[number])();
    const ways = waysOf(act);
    const approval = await ask(people.maker, act);
    const chosen = ways[Math.floor(i / kinds.length) % ways.length];
    if (chosen) {
      const [name, way] = chosen;
      await expectNothing(`${act.kind}: ${name}`, act, await way({ act, approval }));
    } else await expectOnce(act, approval, isCollected(act) ? 0 : 1);
  }
  expect((await deps.audit.verify()).problems).toEqual([]);
}, 600_000);
