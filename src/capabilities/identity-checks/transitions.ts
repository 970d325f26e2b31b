import type { InstructionFact } from '../../core/instructions/fact.js';
import { isOpen } from '../../core/instructions/instruction.js';
import {
  applyChange,
  labelOf,
  monitoredUntil,
  raiseAttention,
  type Change,
  type Verdict,
  rejectionAfterEnd,
} from '../../core/instructions/transition.js';
import { checkFailure, type IdentityCheck } from './record.js';

type CheckChange = Change<IdentityCheck> | 'unchanged' | 'stale';

/**
 * The state machine of identity checks: total, without side effects, and the only way in which a check ends. `succeeded`
 * is "verified"; a rejection is one of the data, or of the request, by its code. The first result counts, and a later one
 * that contradicts it calls an operator. The sealed subject is erased by the change that ends the check.
 */
export function transitionCheck(
  check: IdentityCheck,
  fact: InstructionFact,
  now: Date,
): { verdict: Verdict; next: IdentityCheck } {
  const change = changeFor(check, fact, now);
  if (typeof change === 'string') return { verdict: change, next: check };
  const label = fact.kind === 'succeeded' ? 'verified' : labelOf(fact);
  const next = applyChange(check, fact, label, change, now);
  return { verdict: change.verdict ?? 'applied', next };
}

function changeFor(check: IdentityCheck, fact: InstructionFact, now: Date): CheckChange {
  if (fact.kind === 'reversed') return 'stale';
  if (fact.kind === 'operator_confirmed') return confirmByOperator(check, now);
  if (fact.kind === 'rejected') return applyRejection(check, fact, now);
  if (isOpen(check)) {
    return {
      set: { status: 'completed', completed_at: now, attention: null, sealed: null },
      entry: ['completed', 'the customer is verified'],
    };
  }
  if (check.status === 'completed') return 'unchanged';
  return raiseAttention(check, now, 'verified by the identity provider after the check had failed');
}

function applyRejection(
  check: IdentityCheck,
  fact: Extract<InstructionFact, { kind: 'rejected' }>,
  now: Date,
): CheckChange {
  const late = rejectionAfterEnd(check, fact, now, {
    contradiction: 'the identity provider rejects the data that it had verified',
    nothing: 'the identity provider confirms that it did not verify the customer',
  });
  if (late !== null) return late;
  return {
    set: {
      status: 'failed',
      failure: checkFailure(fact.code),
      completed_at: now,
      attention: null,
      sealed: null,
      monitor_until: monitoredUntil(check, fact.via, now),
    },
    entry: ['completed', 'the customer is not verified'],
  };
}

/** An operator confirms a result after the provider has. A failed check becomes verified. */
function confirmByOperator(check: IdentityCheck, now: Date): CheckChange {
  if (isOpen(check)) return 'stale';
  if (check.status === 'completed') {
    if (check.attention === null) return 'unchanged';
    return {
      set: { attention: null },
      entry: ['attention_cleared', 'an operator and the identity provider confirm the check'],
    };
  }
  return {
    set: {
      status: 'completed',
      completed_at: now,
      failure: null,
      attention: null,
      monitor_until: null,
    },
    entry: ['completed', 'the customer is verified after all'],
  };
}
