import type { PolicyCase } from '../src/core/approvals/policy.js';
import { isInSuspense, type InstructionRecord } from '../src/core/instructions/instruction.js';

/** The command as the policy sees it; null if nobody else need approve it. */
export function policyCaseOf(fact: object, record: InstructionRecord): PolicyCase | null {
  if (lacksProvidersWord(fact)) return { act: 'unproven' };
  return dependsOnState(fact) && isInSuspense(record) ? { act: 'suspense_move' } : null;
}

/** True for a fact that needs an approval in some states of the record alone. */
export const dependsOnState = (fact: object): boolean =>
  (fact as { kind?: string }).kind === 'operator_confirmed';

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
