import type { InstructionFact } from '../../core/instructions/fact.js';
import { isOpen } from '../../core/instructions/instruction.js';
import {
  applyChange,
  labelOf,
  MONITOR_MS,
  raiseAttention,
  type Change,
  type Verdict,
} from '../../core/instructions/transition.js';
import { checkFailure, type IdentityCheck } from './identity-check.js';

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
  { code, via, ifNotSubmitted }: Extract<InstructionFact, { kind: 'rejected' }>,
  now: Date,
): CheckChange {
  if (ifNotSubmitted && check.submissions > 0) return 'stale';
  if (isOpen(check)) {
    const monitored = via === 'operator' && check.submissions > 0;
    return {
      set: {
        status: 'failed',
        failure: checkFailure(code),
        completed_at: now,
        attention: null,
        sealed: null,
        monitor_until: monitored ? new Date(now.getTime() + MONITOR_MS) : null,
      },
      entry: ['completed', 'the customer is not verified'],
    };
  }
  if (check.status === 'completed') {
    const reason = 'the identity provider rejects the data that it had verified';
    return raiseAttention(check, now, reason);
  }
  if (check.monitor_until === null || via === 'operator') return 'unchanged';
  return {
    set: { monitor_until: null },
    entry: ['note', 'the identity provider confirms that it did not verify the customer'],
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
