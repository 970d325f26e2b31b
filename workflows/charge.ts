import { chargeContract } from '../src/capabilities/charges/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';

/** Executes one charge. Its id is `charge/<charge id>`. */
export async function charge(input: InstructionInput): Promise<void> {
  await executeInstruction(buildExecution(chargeContract, input));
}
