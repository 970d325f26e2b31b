import { randomUUID } from 'node:crypto';
import type { AuditEntry } from '../../../src/core/audit/entry.js';
import type { OperatorRole } from '../../../src/platform/operators/operator.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { stopOperatorApis } from '../../support/operators.js';
import { POLICY_OF_ALL, startPolicyApi } from '../../support/policy-acts.js';

let database: TestDatabase;
let api: Awaited<ReturnType<typeof startPolicyApi>>;
beforeAll(async () => {
  database = await openTestDatabase();
  api = await startPolicyApi(database, POLICY_OF_ALL);
});
afterAll(async () => {
  await stopOperatorApis();
  await database.close();
});

type Person = Awaited<ReturnType<typeof api.person>>;

/** An operator whom this admin creates, signed in with the key that the admin is shown. */
async function madeBy(admin: Person, ...roles: OperatorRole[]): Promise<Person> {
  const body = { name: 'Somebody else', email: `${randomUUID()}@tests.invalid`, roles };
  const { data } = await admin.call('POST', '/operators', body);
  return api.signedIn({ id: String(data['id']), key: (data['key'] as { key: string }).key });
}

/** A further key for an account, in the hand of the admin who makes it. */
async function withKeyOf(admin: Person, { id }: Person): Promise<Person> {
  const { data } = await admin.call('POST', `/operators/${id}/keys`);
  return api.signedIn({ id, key: String(data['key']) });
}

/** A request of the maker that this approver tries to approve: the status of the answer, and the effects of the act. */
async function approval(maker: Person, approver: Person) {
  const act = await api.acts.credit();
  const { approval: id } = (await maker.send(act)).data;
  const { status } = await approver.approve(id);
  const refused = { target: String(id), action: 'approvals.refused' };
  const entries = await database.db.collection<AuditEntry>('audit_log').countDocuments(refused);
  return { status, effects: await act.effects(), refusalsInTheAuditLog: entries };
}
const REFUSED = { status: 403, effects: 0, refusalsInTheAuditLog: 1 };
const DONE = { status: 200, effects: 1, refusalsInTheAuditLog: 0 };

test('an admin cannot approve the own request as somebody else whose account the admin made', async () => {
  const admin = await api.person('operator', 'admin');
  expect(await approval(admin, await madeBy(admin, 'approver'))).toEqual(REFUSED);
});

test('an admin cannot approve the own request with a key that the admin made for somebody else, who still can', async () => {
  const [admin, approver] = await Promise.all([
    api.person('operator', 'admin'),
    api.person('approver'),
  ]);
  expect(await approval(admin, await withKeyOf(admin, approver))).toEqual(REFUSED);
  expect(await approval(admin, approver)).toEqual(DONE);
});

test('an approver who was made through others does not count as another person either', async () => {
  const admin = await api.person('operator', 'admin');
  const second = await madeBy(admin, 'admin');
  expect(await approval(admin, await madeBy(second, 'approver'))).toEqual(REFUSED);
  // The account of another admin, with a key of it that the first one made.
  const other = await api.person('admin');
  const inHand = await withKeyOf(admin, other);
  expect(await approval(admin, await madeBy(inHand, 'approver'))).toEqual(REFUSED);
  expect(await approval(admin, await madeBy(other, 'approver'))).toEqual(DONE);
});

test('an approver cannot approve what was asked for with an account or a key that the approver made', async () => {
  const [admin, operator] = await Promise.all([
    api.person('approver', 'admin'),
    api.person('operator'),
  ]);
  expect(await approval(await madeBy(admin, 'operator'), admin)).toEqual(REFUSED);
  expect(await approval(await withKeyOf(admin, operator), admin)).toEqual(REFUSED);
});

test('operators whom the same admin made approve the requests of each other', async () => {
  const admin = await api.person('admin');
  const [operator, approver] = await Promise.all([
    madeBy(admin, 'operator'),
    madeBy(admin, 'approver'),
  ]);
  expect(await approval(operator, approver)).toEqual(DONE);
});
