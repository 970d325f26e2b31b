import { refundContract } from '../src/capabilities/refunds/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';

/** Executes one refund. Its id is `refund/<refund id>`. */
export async function refund(input: InstructionInput): Promise<void> {
  await executeInstruction(buildExecution(refundContract, input));
}
