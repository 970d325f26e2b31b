import { billPaymentContract } from '../src/capabilities/bill-payments/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';

/** Executes one bill payment. Its id is `bill-payment/<bill payment id>`. */
export async function billPayment(input: InstructionInput): Promise<void> {
  await executeInstruction(buildExecution(billPaymentContract, input));
}
