import { createDepositActivities, type DepositActivityDeps } from '../../activities/deposits.js';
import {
  freshInstruction,
  newDeposit,
  type Deposit,
} from '../../src/capabilities/deposits/record.js';

const NOW = new Date('2026-11-25T09:00:00Z');
/** A deposit whose return was submitted once, as its confirmation was before. */
const returned: Deposit = {
  ...newDeposit(
    {
      id: 'dep_1',
      tenantId: 'ten_1',
      provider: 'sandbox-bank',
      reference: 'd1',
      accountId: 'va_1',
      amountMinor: 5_000n,
      accountNumber: '9800000001',
      receivedAt: NOW,
      via: 'webhook',
      detail: 'reported',
    },
    NOW,
  ),
  ...freshInstruction('return', NOW),
  state: 'suspended',
  status: 'processing',
  submissions: 1,
};
const ref = { tenantId: returned.tenant_id, id: returned._id };
const CLOSED = { kind: 'closed', attention: null };

test('the workflow of a confirmation ends once its deposit is returned, and submits nothing for the return', async () => {
  // No provider: a call to it fails.
  const activities = createDepositActivities({
    deposits: { store: { get: async () => returned } },
  } as unknown as DepositActivityDeps);
  expect(await activities.submitDepositConfirmation({ ...ref, submissions: 1 })).toEqual(CLOSED);
  const poll = { ...ref, nextPollMs: 1_000 };
  expect(await activities.verifyDepositConfirmation(poll)).toEqual(CLOSED);
});
