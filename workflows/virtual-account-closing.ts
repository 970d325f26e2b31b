import { accountClosingContract } from '../src/capabilities/virtual-accounts/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';

/** Has one virtual account closed. Its id is `virtual-account-closing/<account id>`. */
export async function virtualAccountClosing(input: InstructionInput): Promise<void> {
  await executeInstruction({ ...buildExecution(accountClosingContract, input), repeatable: true });
}
