import { policyCaseOf } from '../../../activities/policy-case.js';
import { reasonForApproval, type PolicyCase } from '../../../src/core/approvals/policy.js';
import type { InstructionRecord } from '../../../src/core/instructions/instruction.js';
import { pendingTransfer } from '../../support/transfers.js';

const ALL = { all: true, creditAboveMinor: 1_000n, keys: true };
const FORCED = { ...ALL, all: false };

const NAMED: PolicyCase[] = [
  { act: 'credit', amountMinor: 1_001n },
  { act: 'return', amountMinor: 1_001n },
  { act: 'accept_break', amountMinor: 1_001n },
  { act: 'suspense_move' },
  { act: 'refund_account' },
  { act: 'limits', raised: ['daily_limit_minor'] },
  { act: 'key' },
  { act: 'endpoint' },
  { act: 'reconciliation' },
];

test('what the provider does not confirm needs a second person always, what the policy names only with all', () => {
  expect(reasonForApproval(FORCED, { act: 'unproven' })).not.toBeNull();
  expect(reasonForApproval(ALL, { act: 'unproven' })).not.toBeNull();
  for (const each of NAMED) {
    expect([each, reasonForApproval(ALL, each)]).toEqual([each, expect.any(String)]);
    expect([each, reasonForApproval(FORCED, each)]).toEqual([each, null]);
  }
});

test('amounts up to the limit, limits that do not rise and keys of the sandbox need nobody else', () => {
  for (const act of ['credit', 'return', 'accept_break'] as const) {
    expect(reasonForApproval(ALL, { act, amountMinor: 1_000n })).toBeNull();
  }
  expect(reasonForApproval(ALL, { act: 'limits', raised: [] })).toBeNull();
  expect(reasonForApproval({ ...ALL, keys: false }, { act: 'key' })).toBeNull();
});

test('a confirmed payment is a move in suspense if the hold was released, or another amount is suspended', () => {
  const confirmed = { kind: 'operator_confirmed' };
  const failed = pendingTransfer({ status: 'failed', in_suspense: true });
  const charge = { status: 'requires_action', suspended: [{}] } as unknown as InstructionRecord;
  for (const record of [failed, charge]) {
    expect(policyCaseOf(confirmed, record)).toEqual({ act: 'suspense_move' });
  }
  expect(policyCaseOf(confirmed, pendingTransfer({ status: 'processing' }))).toBeNull();
  expect(policyCaseOf({ ...confirmed, unproven: true }, failed)).toEqual({ act: 'unproven' });
  expect(policyCaseOf({ kind: 'rejected' }, failed)).toEqual({ act: 'unproven' });
  expect(policyCaseOf({ kind: 'rejected', ifNotSubmitted: true }, failed)).toBeNull();
});
