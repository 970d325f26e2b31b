import type { PolicyCase } from '../src/core/approvals/policy.js';
import type { InstructionRecord } from '../src/core/instructions/instruction.js';

/** The command as the policy sees it; null if nobody else need approve it. */
export function policyCaseOf(fact: object, record: InstructionRecord): PolicyCase | null {
  if (lacksProvidersWord(fact)) return { act: 'unproven' };
  const confirms = (fact as { kind?: string }).kind === 'operator_confirmed';
  return confirms && isInSuspense(record) ? { act: 'suspense_move' } : null;
}

/** True for a record whose confirmation moves money through suspense: a payment without a hold, or of another amount. */
function isInSuspense(record: InstructionRecord): boolean {
  const { in_suspense: booked, suspended = [] } = record as {
    in_suspense?: boolean;
    suspended?: readonly object[];
  };
  return suspended.length > 0 || (booked !== undefined && record.status === 'failed');
}

/** True for a fact that an operator states alone. Another `operator_confirmed` repeats what the provider has said. */
function lacksProvidersWord(fact: object): boolean {
  const { kind, ifNotSubmitted, unproven } = fact as {
    kind?: string;
    ifNotSubmitted?: boolean;
    unproven?: boolean;
  };
  const released = kind === 'rejected' && ifNotSubmitted !== true;
  return kind === 'succeeded' || released || unproven === true;
}
