import { useApproval } from '../../../src/core/approvals/use.js';
import { randomUUID } from 'node:crypto';
import { createApprovals, type NewApproval } from '../../../src/core/approvals/store.js';
import type { Act } from '../../../src/core/audit/entry.js';
import { createAudit } from '../../../src/core/audit/store.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const actBy = (operator: string): Act => ({
  id: randomUUID(),
  actor: { operator, name: operator, roles: ['operator'] },
  action: 'wallets.credit',
  target: 'ten_1/r1',
  tenantId: 'ten_1',
  reason: null,
  requestId: null,
  approval: null,
});

const credit = (amount: number, balance = 0): NewApproval => ({
  target_state: { available_minor: balance },
  evidence: 'it is above the limit',
  input: { params: { tenant: 'ten_1' }, body: { amount_minor: amount, reference: 'r1' } },
});

test('only a repeat of the same person with the same input and target returns the open request', async () => {
  const approvals = createApprovals({ db: database.db, audit: createAudit(database, useApproval) });
  const first = await approvals.request(actBy('opr_ada'), credit(500));
  const idOf = async (by: string, request: NewApproval) =>
    (await approvals.request(actBy(by), request))._id;
  expect(await idOf('opr_ada', credit(500))).toBe(first._id);
  for (const [by, request] of [
    ['opr_ada', credit(900)],
    ['opr_ada', credit(500, 1)],
    ['opr_bayo', credit(500)],
  ] as const) {
    const other = await approvals.request(actBy(by), request);
    expect(other._id).not.toBe(first._id);
    expect(other.input).toEqual(request.input);
  }
  await approvals.change(actBy('opr_ada'), first, { status: 'rejected' });
  expect(await idOf('opr_ada', credit(500))).not.toBe(first._id);
});
