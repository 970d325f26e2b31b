import { depositReturnContract } from '../src/capabilities/deposits/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';

/** Sends one deposit back to its sender. Its id is `deposit-return/<deposit id>`. */
export async function depositReturn(input: InstructionInput): Promise<void> {
  await executeInstruction(buildExecution(depositReturnContract, input));
}
