import type { OperatorCommand } from '../../src/core/instructions/workflow-contract.js';
import type { InstructionLabels } from '../../src/core/instructions/labels.js';

/** What an operator reads in the Temporal UI, on the workflow's page and beside each command. */
export type WorkflowDetails = ReturnType<typeof workflowDetails>;

export function workflowDetails(labels: InstructionLabels) {
  const { record, provider, payment, pay, meanwhile, release, late, suspenseDebit } = labels;
  const commands =
    `Send a signal or an update (More Actions): **verify** asks the ${provider} now, **retry** also sends again where ` +
    `the ${provider} rules the ${payment} out, **complete** and **fail** end it if the ${provider} agrees. Each takes ` +
    // As code: the page would make curly quotes of these, which could not be pasted.
    '`{"actor": "you", "reason": "why"}`, and **fail** also `"force": true` against ' +
    `a ${provider} that is silent.`;
  const descriptions: Record<OperatorCommand['kind'], string> = {
    retry:
      `Push on: ask the ${provider} now, and send again if it rules the ${payment} out. ` +
      'Input: {"actor": "you", "reason": "why"}',
    verify:
      `Ask the ${provider} now and apply what it says. ` +
      'Input: {"actor": "you", "reason": "why"}',
    complete:
      `Complete, if the ${provider} confirms the ${payment}; refused if it does not. ` +
      `Input: {"actor": "you", "reason": "why", "session_id": "optional, as the ${provider} has it"}`,
    fail:
      `Fail: ${release}, if the ${provider} confirms that it did not ${pay}. With "force": true also against ` +
      `its silence${late === null ? '' : `; then ${late}`}. ` +
      'Input: {"actor": "you", "reason": "why", "force": false}',
  };
  return {
    descriptions,
    whileOpen:
      `${meanwhile}, and nothing is guessed. The ${provider} is asked on: when it calls back or decides, the ` +
      `${record} ends by itself.\n\n${commands}`,
    whileClosed:
      `The ${record} has ended, and the ${provider} says something else than the books. Its timeline tells what. ` +
      `**complete** stands by the ${payment} if the ${provider} confirms it: ${suspenseDebit}.\n\n${commands}`,
    done: 'Done: the record and the ledger tell how it ended.',
    whileMonitored:
      `An operator gave this ${record} up, and ${release}. The ${provider} is asked on for a day: if it did ${pay} all ` +
      `the same, ${late}.`,
  };
}
