import { createIdentityCheckCalls } from '../../src/capabilities/identity-checks/provider-calls.js';
import {
  newIdentityCheck,
  type IdentityCheck,
} from '../../src/capabilities/identity-checks/record.js';
import { transitionCheck } from '../../src/capabilities/identity-checks/transitions.js';
import { MAX_SUBMISSIONS } from '../../src/core/instructions/workflow-contract.js';
import type { Providers } from '../../src/core/providers/registry.js';
import { DAY_MS } from '../../src/shared/durations.js';

const FIRST = new Date('2026-11-25T09:00:00Z');
const LATER = new Date(FIRST.getTime() + DAY_MS + 1);
/** A check that was submitted as often as it may be, without an answer. */
const unanswered: IdentityCheck = {
  ...newIdentityCheck(
    {
      _id: 'idc_1',
      tenant_id: 'ten_1',
      customer_id: 'customer-1',
      customer: 'cus_1',
      check_type: 'bank_account',
      provider: 'paystack',
      sealed: 'the number and the names',
      last4: '6789',
      number_index: 'index',
    },
    FIRST,
  ),
  status: 'processing',
  submissions: MAX_SUBMISSIONS,
  first_submitted_at: FIRST,
};

/** Verifies a check at a provider that answers so. */
const verified = (check: IdentityCheck, now: Date, kind = 'not_found') =>
  createIdentityCheckCalls({
    providers: {
      identity: () => ({ verifyCheck: async () => ({ kind, providerRequestId: null }) }),
    } as unknown as Pick<Providers, 'identity'>,
    sealing: { open: () => null },
    clock: () => now,
  }).verify(check, new AbortController().signal);

test('a check that is never found ends a day after its first submission, once it is not submitted again, and its number is erased', async () => {
  const outcome = await verified(unanswered, LATER);
  expect(outcome).toMatchObject({ kind: 'rejected', code: 'not_checked' });
  const fact = { kind: 'rejected', code: 'not_checked', via: 'poll' } as const;
  const source = { actor: 'paystack', providerRequestId: null, note: null };
  const { next } = transitionCheck(unanswered, { ...source, ...fact }, LATER);
  expect(next).toMatchObject({ status: 'failed', failure: { code: 'not_checked' }, sealed: null });
});

test.each([
  ['before that day is over', unanswered, FIRST, 'not_found'],
  [
    'while it is still submitted again',
    { ...unanswered, submissions: MAX_SUBMISSIONS + 1, rejected_submissions: 2 },
    LATER,
    'not_found',
  ],
  [
    'once the provider has accepted it',
    { ...unanswered, acknowledged_at: FIRST },
    LATER,
    'not_found',
  ],
  ['if the provider has it', unanswered, LATER, 'pending'],
  ['if the provider does not answer', unanswered, LATER, 'unknown'],
])('such a check goes on %s', async (_when, check, now, kind) => {
  expect(await verified(check, now, kind)).toMatchObject({ kind });
});
