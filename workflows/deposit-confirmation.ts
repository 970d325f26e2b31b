import { depositConfirmationContract } from '../src/capabilities/deposits/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';

/**
 * Asks the provider for one deposit until it is confirmed, and submits nothing: the money has moved already. Its id is
 * `deposit-confirmation/<deposit id>`.
 */
export async function depositConfirmation(input: InstructionInput): Promise<void> {
  await executeInstruction({
    ...buildExecution(depositConfirmationContract, input),
    firstStep: async () => ({ do: 'verify', afterMs: 0, stuck: null }),
  });
}
