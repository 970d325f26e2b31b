import { cardIssuanceContract } from '../src/capabilities/cards/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';

/** Has one card issued. Its id is `card-issuance/<operation id>`. */
export async function cardIssuance(input: InstructionInput): Promise<void> {
  await executeInstruction(buildExecution(cardIssuanceContract, input));
}
