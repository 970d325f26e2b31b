import { identityCheckContract } from '../src/capabilities/identity-checks/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';

/** Executes one identity check. Its id is `identity-check/<check id>`. */
export async function identityCheck(input: InstructionInput): Promise<void> {
  await executeInstruction(buildExecution(identityCheckContract, input));
}
