import * as fc from 'fast-check';
import {
  checkStatusOf,
  newIdentityCheck,
  type IdentityCheck,
} from '../../src/capabilities/identity-checks/record.js';
import { transitionCheck } from '../../src/capabilities/identity-checks/transitions.js';
import type { InstructionFact } from '../../src/core/instructions/fact.js';
import { isOpen } from '../../src/core/instructions/instruction.js';

const NOW = new Date('2026-11-21T10:00:00Z');

const newCheck = (submissions: number): IdentityCheck => ({
  ...newIdentityCheck(
    {
      _id: 'kyc_1',
      tenant_id: 'ten_1',
      customer_id: 'customer-1',
      customer: 'cus_1',
      check_type: 'bvn',
      provider: 'sandbox-bank',
      sealed: 'k.sealed',
      last4: '5678',
      number_index: 'k.index',
    },
    NOW,
  ),
  submissions,
  status: submissions > 0 ? 'processing' : 'pending',
});

const via = fc.constantFrom('provider_answer', 'poll', 'webhook', 'operator');
const source = via.map((from) => ({
  via: from,
  actor: null,
  providerRequestId: null,
  note: null,
}));
const codes = fc.constantFrom(
  'name_mismatch',
  'number_not_found',
  'account_mismatch',
  'not_checked',
  'operator',
);
const facts: fc.Arbitrary<InstructionFact> = fc.oneof(
  source.map((from) => ({
    ...from,
    kind: 'succeeded' as const,
    amountMinor: null,
    sessionId: null,
  })),
  fc.tuple(source, codes).map(([from, code]) => ({ ...from, kind: 'rejected' as const, code })),
  source.map((from) => ({
    ...from,
    kind: 'rejected' as const,
    code: 'operator',
    ifNotSubmitted: true,
  })),
  source.map((from) => ({ ...from, kind: 'operator_confirmed' as const })),
  source.map((from) => ({
    ...from,
    kind: 'reversed' as const,
    amountMinor: null,
    sessionId: null,
  })),
);
const histories = fc.tuple(fc.nat(2), fc.array(facts, { maxLength: 8 }));

const after = (check: IdentityCheck, all: readonly InstructionFact[]) =>
  all.reduce((now, fact) => transitionCheck(now, fact, NOW).next, check);

test('whatever facts come in whatever order, a check has its sealed subject exactly while it is open', () => {
  fc.assert(
    fc.property(histories, ([submissions, all]) => {
      const check = after(newCheck(submissions), all);
      expect(check.sealed === null).toBe(!isOpen(check));
      expect(check.completed_at === null).toBe(isOpen(check));
      if (isOpen(check) || check.attention !== null) expect(check.next_check_at).not.toBeNull();
    }),
  );
});

test('only a rejection with one of the codes for data that do not match makes a check rejected', () => {
  fc.assert(
    fc.property(histories, ([submissions, all]) => {
      const check = after(newCheck(submissions), all);
      if (checkStatusOf(check) !== 'rejected') return;
      const codesOfAll = all.flatMap((fact) => (fact.kind === 'rejected' ? fact.code : []));
      expect(codesOfAll).toContain(check.failure?.code);
      expect(['name_mismatch', 'number_not_found', 'account_mismatch']).toContain(
        check.failure?.code,
      );
    }),
  );
});

test('an ended check never changes its status by a fact of the provider: a contradiction calls an operator', () => {
  fc.assert(
    fc.property(histories, facts, ([submissions, all], fact) => {
      const check = after(newCheck(submissions), all);
      if (isOpen(check) || fact.kind === 'operator_confirmed') return;
      const { next, verdict } = transitionCheck(check, fact, NOW);
      expect(checkStatusOf(next)).toBe(checkStatusOf(check));
      if (fact.kind === 'succeeded' && check.status === 'failed') {
        expect(['attention', 'unchanged']).toContain(verdict);
        expect(next.attention).not.toBeNull();
      }
    }),
  );
});

test('the same fact again changes nothing', () => {
  fc.assert(
    fc.property(histories, facts, ([submissions, all], fact) => {
      const once = after(newCheck(submissions), [...all, fact]);
      const { next } = transitionCheck(once, fact, NOW);
      expect({ ...next, timeline: [], version: 0, monitor_until: null }).toEqual({
        ...once,
        timeline: [],
        version: 0,
        monitor_until: null,
      });
    }),
  );
});
