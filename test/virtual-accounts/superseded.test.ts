import {
  createVirtualAccountActivities,
  type VirtualAccountActivityDeps,
} from '../../activities/virtual-accounts.js';
import {
  freshInstruction,
  newVirtualAccount,
  type VirtualAccount,
} from '../../src/capabilities/virtual-accounts/record.js';
import { createVirtualAccounts } from '../../src/capabilities/virtual-accounts/store.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';

const NOW = new Date('2026-11-25T09:00:00Z');
const assigned: VirtualAccount = {
  ...newVirtualAccount(
    {
      tenantId: 'ten_1',
      provider: 'sandbox-bank',
      reference: undefined,
      customer: { id: 'customer-1', name: 'Ada Obi', email: null, phone: null },
      accountName: 'Ada Obi',
      bankCode: null,
      expectedMinor: null,
      onMismatch: 'accept',
      metadata: null,
    },
    NOW,
  ),
  state: 'active',
  status: 'completed',
};
const closing: VirtualAccount = {
  ...assigned,
  ...freshInstruction('close', NOW),
  state: 'closing',
};

/** The activities of one record, without a provider: a call to it fails. */
const activitiesOf = (account: VirtualAccount) =>
  createVirtualAccountActivities({
    virtualAccounts: { store: { get: async () => account } },
  } as unknown as VirtualAccountActivityDeps);
const CLOSED = { kind: 'closed', attention: null };
const input = { tenantId: closing.tenant_id, id: closing._id, nextPollMs: 1_000 };

test('the workflow of an assignment ends once its account is closing, and does nothing about the closing', async () => {
  const { verifyVirtualAccountAssignment: verify } = activitiesOf(closing);
  expect(await verify(input)).toEqual(CLOSED);
});

test('the workflow of an assignment submits nothing for the closing, whose submissions are counted anew', async () => {
  const closedOnce: VirtualAccount = { ...closing, submissions: 1, status: 'processing' };
  const { submitVirtualAccountAssignment: submit } = activitiesOf(closedOnce);
  const { tenantId, id } = input;
  expect(await submit({ tenantId, id, submissions: 1 })).toEqual(CLOSED);
});

describe('the permit of a closing', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
    await database.db.collection<VirtualAccount>('virtual_accounts').insertOne(closing);
  });
  afterAll(() => database.close());

  test('is not granted to the workflow of the assignment, also if the closing begins just before it', async () => {
    const store = createVirtualAccounts(database, createGroupCommit(database), 1_000);
    const activities = createVirtualAccountActivities({
      virtualAccounts: { store },
    } as unknown as VirtualAccountActivityDeps);
    const { tenantId, id } = input;
    // A first submission takes its permit without reading the record.
    const submit = activities.submitVirtualAccountAssignment;
    expect(await submit({ tenantId, id, submissions: 0 })).toEqual(CLOSED);
    expect(await store.get(tenantId, id)).toMatchObject({ status: 'pending', submissions: 0 });
    const permit = { tenantId, id, submissions: 0, instruction: 'close' };
    expect(await store.acquireSubmitPermit(permit)).toMatchObject({ submissions: 1 });
  });

  test('counts no answer about the assignment, which a frozen worker counts late', async () => {
    const store = createVirtualAccounts(database, createGroupCommit(database), 1_000);
    const { tenantId, id } = input;
    const before = await store.get(tenantId, id);
    const answer = { kind: 'throttled', providerRequestId: null };
    const rejected = { wasRejected: true, suppressTimeline: false, acknowledged: true };
    await store.recordAnswer(assigned, 'sandbox-bank', answer, rejected);
    await store.countPoll(assigned, 1_000, true);
    await store.acknowledge(tenantId, id, { instruction: 'assign' });
    expect(await store.get(tenantId, id)).toEqual(before);
  });
});

test('the workflow of a closing goes on with its own instruction', async () => {
  const { verifyVirtualAccountClosing: verify } = activitiesOf(closing);
  expect(await verify(input)).toMatchObject({ kind: 'not_submitted' });
});
