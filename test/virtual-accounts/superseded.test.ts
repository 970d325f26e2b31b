import {
  createVirtualAccountActivities,
  type VirtualAccountActivityDeps,
} from '../../activities/virtual-accounts.js';
import {
  freshInstruction,
  newVirtualAccount,
  type VirtualAccount,
} from '../../src/capabilities/virtual-accounts/record.js';

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
const input = { tenantId: closing.tenant_id, id: closing._id, nextPollMs: 1_000 };

test('the workflow of an assignment ends once its account is closing, and does nothing about the closing', async () => {
  const { verifyVirtualAccountAssignment: verify } = activitiesOf(closing);
  expect(await verify(input)).toEqual({ kind: 'closed', attention: null });
});

test('the workflow of a closing goes on with its own instruction', async () => {
  const { verifyVirtualAccountClosing: verify } = activitiesOf(closing);
  expect(await verify(input)).toMatchObject({ kind: 'not_submitted' });
});
