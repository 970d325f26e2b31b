import { accountAssignmentContract } from '../src/capabilities/virtual-accounts/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';

/** Has one virtual account assigned. Its id is `virtual-account-assignment/<account id>`. */
export async function virtualAccountAssignment(input: InstructionInput): Promise<void> {
  await executeInstruction(buildExecution(accountAssignmentContract, input));
}
