import { cardUnloadContract } from '../src/capabilities/card-unloads/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';

/** Takes the balance of a closed or expired card back from its issuer. Its id is `card-unload/<operation id>`. */
export async function cardUnload(input: InstructionInput): Promise<void> {
  await executeInstruction(buildExecution(cardUnloadContract, input));
}
