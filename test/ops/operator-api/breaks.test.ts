import { breakId, type FoundBreak } from '../../../src/core/reconciliation/break.js';
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

async function open(reference: string, amountMinor: bigint): Promise<string> {
  const found: FoundBreak = {
    kind: 'missing_here',
    source: 'record',
    provider: 'sandbox-bank',
    capability: 'transfers',
    reference,
    tenantId: null,
    amountMinor,
    difference: 'unknown with us, paid at the bank',
  };
  await api.deps.breaks.note({
    source: 'record',
    provider: found.provider,
    references: [reference],
    found: [found],
  });
  return breakId(found);
}

const why = { reason: 'the debit is agreed with the tenant' };
const moved = () => database.db.collection('postings').countDocuments({});

test('closing a break keeps the reason and an entry in the audit log, and moves no money', async () => {
  const maker = await api.person('operator');
  const id = await open('stranger-1', 1_000n);
  expect(await maker.call('POST', `/breaks/${id}/close`, why)).toMatchObject({
    data: { status: 'closed', closed: { by: 'operator', ...why } },
  });
  const entries = await api.deps.audit.latest({ target: id }, 10);
  expect(entries).toMatchObject([
    {
      action: 'breaks.close',
      reason: why.reason,
      before: { status: 'open' },
      after: { status: 'closed' },
    },
  ]);
  expect(await moved()).toBe(0);
  expect((await maker.call('POST', `/breaks/${id}/close`, why)).status).toBe(422);
});

test('a second person closes a break with much money at stake, and asks about any', async () => {
  const [maker, approver] = await Promise.all([api.person('operator'), api.person('approver')]);
  const id = await open('stranger-2', 1_001n);
  const asked = await maker.call('POST', `/breaks/${id}/close`, why);
  expect(asked).toMatchObject({ data: { done: false } });
  expect(await api.deps.breaks.find(id)).toMatchObject({ status: 'open' });
  expect(await approver.approve(asked.data['approval'])).toMatchObject({
    data: { done: true, status: 'used' },
  });
  expect(await api.deps.breaks.find(id)).toMatchObject({ status: 'closed' });

  const other = await open('stranger-3', 1n);
  expect(await maker.call('POST', `/breaks/${other}/ask`)).toMatchObject({
    data: { done: false },
  });
});

test('nobody without the role ends a break, and an unknown one is not found', async () => {
  const [viewer, maker] = await Promise.all([api.person('approver'), api.person('operator')]);
  const id = await open('stranger-4', 1n);
  for (const act of ['ask', 'close'] as const) {
    expect((await viewer.call('POST', `/breaks/${id}/${act}`, why)).status).toBe(403);
  }
  expect((await viewer.call('GET', `/breaks/${id}`)).status).toBe(200);
  expect((await maker.call('POST', '/breaks/brk_none/close', why)).status).toBe(404);
});
