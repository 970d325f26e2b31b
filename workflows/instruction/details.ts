import type {
  InstructionLabels,
  OperatorCommand,
} from '../../src/core/instructions/workflow-contract.js';

/** Texts of an instruction's workflow in the Temporal UI: its current details, and a description of each command. */
export type WorkflowDetails = ReturnType<typeof workflowDetails>;

/** Makes the texts from an instruction's labels. */
export function workflowDetails(labels: InstructionLabels) {
  const { record, provider, payment, pay, meanwhile, release, late, suspenseDebit } = labels;
  const commands =
    `Send a signal or an update (More Actions). **verify** asks the ${provider} now. **retry** also submits again if the ` +
    `${provider} rules the ${payment} out. **complete** and **fail** end the ${record} if the ${provider} agrees. Each takes ` +
    // As code, because the page turns plain quotes into curly ones, which cannot be pasted.
    '`{"actor": "your name", "reason": "why"}`. Against a ' +
    `${provider} that is silent, \`"force": true\` makes a request, which a second person decides: ` +
    '`bursar approvals list`, then `bursar approvals approve ID`. The same by command, with your sign-in: ' +
    `\`bursar … fail ID --force --reason "why"\`.`;
  const descriptions: Record<OperatorCommand['kind'], string> = {
    retry:
      `Asks the ${provider} now, and submits again if it rules the ${payment} out. With "absent": true you attest that ` +
      `it never executes what was submitted: if it does not know the ${payment}, one more submission is made. ` +
      'Input: {"actor": "your name", "reason": "why", "absent": false}',
    verify:
      `Asks the ${provider} now and applies its answer. ` +
      'Input: {"actor": "your name", "reason": "why"}',
    complete:
      `Completes the ${record} if the ${provider} confirms the ${payment}; refused if it does not. With ` +
      `"force": true also if it is silent, once a second person has approved it. ` +
      `Input: {"actor": "your name", "reason": "why", "session_id": "optional, as the ${provider} reports it"}`,
    fail:
      `Fails the ${record}: ${release}, if the ${provider} confirms that it did not ${pay}. With "force": true also if ` +
      `it is silent, once a second person has approved the request that this makes${late === null ? '' : `; then ${late}`}. ` +
      'Input: {"actor": "your name", "reason": "why", "force": false}',
  };
  return {
    descriptions,
    whileOpen:
      `${meanwhile}. The ${provider} is polled until it gives a final answer; then the ${record} ends without an ` +
      `operator.\n\n${commands}`,
    whileClosed:
      `The ${record} has ended, and the ${provider} reports something else than the ledger. The timeline has the details. ` +
      `**complete** confirms the ${payment} if the ${provider} does: ${suspenseDebit}.\n\n${commands}`,
    done: 'Done: the record and the ledger show the outcome.',
    whileMonitored:
      `An operator failed this ${record} by force, and ${release}. The ${provider} is polled for a day: if it did ${pay} ` +
      `after all, ${late}.`,
  };
}
