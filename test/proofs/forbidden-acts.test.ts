import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Approval } from '../../src/core/approvals/approval.js';
import type { AuditEntry } from '../../src/core/audit/entry.js';
import { isCollected } from '../../src/ops/operator-api/second-person.js';
import { stateOf } from '../../src/ops/operator-api/target-states.js';
import type { OperatorRole } from '../../src/platform/operators/operator.js';
import { createRandom } from '../chaos/random-faults/random.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { stopOperatorApis } from '../support/operators.js';
import {
  POLICY_CASES,
  POLICY_KINDS,
  POLICY_OF_ALL,
  startPolicyApi,
  type PolicyAct,
} from '../support/policy-acts.js';

/** Forbidden acts in all: each way of each kind once, and the others drawn. */
const ACTS = 1_000;
/** Requests that wait at once. */
const MOST_OPEN = 8;
const LONGEST_PAUSE_MS = 20;
/** FORBIDDEN_ACTS_SEED repeats the choices of a run: acts, ways, roles, order and pauses. */
const SEED = Number(process.env['FORBIDDEN_ACTS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = createRandom(SEED);

const shuffled = <T>(from: readonly T[]): T[] =>
  from
    .map((each) => [random.next(), each] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, each]) => each);

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

type Person = Awaited<ReturnType<typeof withRoles>>;

const withRoles = async (...roles: OperatorRole[]) => ({ ...(await person(...roles)), roles });

/** People of each part, with all roles that it can have. */
async function createPeople() {
  const all = (...of: OperatorRole[][]) => Promise.all(of.map((roles) => withRoles(...roles)));
  const [makers, others, approvers] = await Promise.all([
    all(
      ['operator'],
      ['admin'],
      ['operator', 'approver'],
      ['admin', 'approver', 'viewer'],
      ['operator', 'approver', 'admin'],
    ),
    all(['operator'], ['operator', 'admin'], ['operator', 'viewer']),
    all(['approver'], ['approver', 'viewer'], ['operator', 'approver'], ['approver', 'admin']),
  ]);
  return { makers, others, approvers };
}

/** The people of one act. */
type Cast = ReturnType<typeof drawCast>;

function drawCast() {
  const [one, two] = shuffled(people.approvers) as [Person, Person];
  return {
    maker: random.pick(people.makers),
    other: random.pick(people.others),
    one,
    two,
  };
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
  if (!act.fromWorkflow) return String((await maker.send(act)).data['approval']);
  const of = {
    id: randomUUID(),
    actor: { operator: maker.id, name: 'a test', roles: maker.roles },
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
type Subject = { act: PolicyAct; approval: string; cast: Cast };
type Way = (subject: Subject) => Promise<Attempt> | Attempt;

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
/** Somebody with these roles, who has no entry for a refusal yet: one operator has a few of them a minute. */
const asFresh =
  (...choices: OperatorRole[][]): Way =>
  async ({ approval }) =>
    withoutRight(await withRoles(...random.pick(choices)), approval);
const collectBy = (by: Person, act: PolicyAct): Attempt => ({
  by,
  tries: () => by.send(act),
  logged: [requestedFor(act)],
});
const afterSetting =
  (fields: (cast: Cast) => Partial<Approval>): Way =>
  async ({ approval, cast }) => {
    await set(approval, fields(cast));
    return approveBy(cast.one, approval);
  };

const VOID = { action: 'approvals.void' };
const disable = ({ id }: Person) => deps.operators.update(id, { disabled: true });
const demote = ({ id }: Person) => deps.operators.update(id, { roles: ['viewer'] });

/** An approval for a maker who was revoked after the request. */
const revokedMaker =
  (revokes: (maker: Person) => Promise<unknown>): Way =>
  async ({ act, cast }) => {
    const maker = await withRoles('operator', 'approver');
    const approval = await ask(maker, act);
    await revokes(maker);
    const logged = [{ ...VOID, target: approval }, refusedFor(approval)];
    return { ...approveBy(cast.one, approval), logged };
  };

/** A collection with the approval of somebody who was revoked after it. */
const revokedApprover =
  (revokes: (approver: Person) => Promise<unknown>): Way =>
  async ({ act, approval, cast }) => {
    const approver = await withRoles('approver');
    await approver.approve(approval);
    await revokes(approver);
    const logged = [{ ...VOID, target: approval }, requestedFor(act)];
    return { ...collectBy(cast.maker, act), logged };
  };

const WAYS: Record<string, Way> = {
  'an approval of the own request': async ({ act, approval, cast: { maker } }) => {
    if (maker.roles.includes('approver')) return approveBy(maker, approval);
    const by = await withRoles('operator', 'approver');
    return approveBy(by, await ask(by, act));
  },
  'the role of an operator': asFresh(['operator'], ['operator', 'admin'], ['operator', 'viewer']),
  'the role of an admin': asFresh(['admin'], ['admin', 'viewer']),
  'the role of a viewer': asFresh(['viewer']),
  'a viewer who sends the act itself': async ({ act }) => {
    const by = await withRoles('viewer');
    const tries = () => by.send(act);
    return { by, tries, logged: [refusedAt(String(POLICY_KINDS[act.kind]?.operation))] };
  },
  'a disabled account': async ({ approval }) => {
    const by = await withRoles(
      ...random.pick<OperatorRole[]>([['approver'], ['operator', 'approver']]),
    );
    await disable(by);
    return withoutRight(by, approval);
  },
  'a sign-in that is revoked before': async ({ approval }) => {
    const by = await withRoles('approver');
    expect(await by.call('GET', `/approvals/${approval}`)).toMatchObject({ status: 200 });
    await revoke(by);
    return withoutRight(by, approval);
  },
  'a sign-in that is revoked in the middle of the request': async ({ approval }) => {
    const by = await withRoles('approver');
    const tries = () => by.approveAround(approval, () => revoke(by));
    return { ...withoutRight(by, approval), tries };
  },
  'a request whose maker is disabled': revokedMaker(disable),
  'a request whose maker has lost the role': revokedMaker(demote),
  'an expired request': afterSetting(() => ({ expires_at: new Date(Date.now() - 1) })),
  'a rejected request': afterSetting(() => ({ status: 'rejected' })),
  'an approval of somebody else': afterSetting((cast) => ({
    status: 'approved',
    decided_by: { operator: cast.two.id, name: 'another', roles: [] },
  })),
  'an approval that has expired since': afterSetting((cast) => ({
    status: 'approved',
    decided_by: { operator: cast.one.id, name: 'the same', roles: [] },
    expires_at: new Date(Date.now() - 1),
  })),
};

/** Only for targets whose state the act depends on. */
const changedTarget: Way = async ({ act, approval, cast }) => {
  await act.changeTarget?.();
  const logged = [{ ...VOID, target: approval }, refusedFor(approval)];
  return { ...approveBy(cast.one, approval), logged };
};

/** Only for acts that an approval carries out without a workflow. */
const replay: Way = async ({ act, approval, cast }) => {
  const first = await cast.one.approve(approval);
  expect([act.kind, first]).toMatchObject([act.kind, { data: { done: true } }]);
  return approveBy(cast.two, approval);
};

/** Only for acts that their maker carries out after the approval. */
const COLLECTED_WAYS: Record<string, Way> = {
  'somebody else who collects the secret': async ({ act, approval, cast }) => {
    await cast.one.approve(approval);
    return collectBy(cast.other, act);
  },
  'the secret of an approval whose approver is disabled': revokedApprover(disable),
  'the secret of an approval whose approver has lost the role': revokedApprover(demote),
  'the secret of an approval that is used': async ({ act, approval, cast }) => {
    await cast.one.approve(approval);
    expect(await cast.maker.send(act)).toMatchObject({ status: 200 });
    return collectBy(cast.maker, act);
  },
  'the secret of an approval that has expired': async ({ act, approval, cast }) => {
    await cast.one.approve(approval);
    await set(approval, { expires_at: new Date(Date.now() - 1) });
    return collectBy(cast.maker, act);
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
async function expectOnce(
  name: string,
  { act, approval, cast }: Subject,
  times: number,
): Promise<void> {
  const mark = await entries().countDocuments();
  const both = [cast.one, cast.two];
  const answers = await Promise.all(both.map((each) => each.approve(approval)));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect([name, ...statuses]).toEqual([name, 200, 422]);
  expect([name, await act.effects()]).toEqual([name, times]);
  const loser = both[answers.findIndex(({ status }) => status === 422)] as Person;
  const refused = { _id: { $gt: mark }, 'actor.operator': loser.id, action: 'approvals.refused' };
  expect(await entries().find(refused).toArray()).toHaveLength(1);
}

/** A way in which a kind of act is tried; null: two approvers at once. */
type Try = { name: string; make: () => Promise<PolicyAct>; way: Way | null };

/** All ways of a kind of act. */
async function triesOf(make: () => Promise<PolicyAct>): Promise<Try[]> {
  const act = await make();
  const { kind, fromWorkflow, fails } = act;
  const isCarriedOut = !fromWorkflow && !fails;
  const ways: [string, Way | null][] = [
    ...Object.entries(WAYS),
    ...(act.changeTarget ? [['a changed target', changedTarget] as [string, Way]] : []),
    ...(isCollected(kind) ? Object.entries(COLLECTED_WAYS) : []),
    ...(isCarriedOut && !isCollected(kind)
      ? [['a replayed approval', replay] as [string, Way]]
      : []),
    ...(isCarriedOut ? [['two approvers at once', null] as [string, null]] : []),
  ];
  return ways.map(([name, way]) => ({ name: `seed ${SEED}: ${kind}: ${name}`, make, way }));
}

/** Tries these forbidden acts: all are asked for, and tried in another order, with pauses. */
async function tryAll(tries: readonly Try[]): Promise<void> {
  const asked: (Subject & Try)[] = [];
  for (const each of tries) {
    const [act, cast] = [await each.make(), drawCast()];
    asked.push({ ...each, act, cast, approval: await ask(cast.maker, act) });
  }
  for (const { name, way, ...subject } of shuffled(asked)) {
    await sleep(random.between(0, LONGEST_PAUSE_MS));
    if (way) await expectNothing(name, subject.act, await way(subject));
    else await expectOnce(name, subject, isCollected(subject.act.kind) ? 0 : 1);
  }
}

test('every case of the policy has a kind of act', async () => {
  const kinds = await Promise.all(Object.values(api.acts).map(async (make) => (await make()).kind));
  expect(kinds.toSorted()).toEqual(Object.keys(POLICY_KINDS).toSorted());
  const tried = new Set(kinds.map((kind) => String(POLICY_KINDS[kind]?.policy)));
  expect([...tried].toSorted()).toEqual(POLICY_CASES.toSorted());
});

test(`no forbidden act of ${ACTS} takes effect, and each is in the audit log with the person who tried it`, async () => {
  console.log(`FORBIDDEN_ACTS_SEED=${SEED}`);
  const all = (await Promise.all(Object.values(api.acts).map(triesOf))).flat();
  const further = Array.from({ length: ACTS - all.length }, () => random.pick(all));
  const tries = [...shuffled(all), ...further];
  for (let from = 0; from < tries.length;) {
    const size = Math.ceil(random.between(0, MOST_OPEN));
    await tryAll(tries.slice(from, from + size));
    from += size;
  }
  expect((await deps.audit.verify()).problems).toEqual([]);
}, 900_000);
