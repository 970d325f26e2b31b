import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  transferContract,
  type NoSuchAccount,
  type TransferInput,
} from '../src/capabilities/transfers/workflow-contract.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution, type QueuedCall } from './instruction/execution.js';
import type { Step } from './instruction/progress.js';
import { ofFirstSubmission, providerCall } from './policies.js';

/** Executes one transfer. Its id is `transfer/<transfer id>`. */
export async function transfer(input: TransferInput): Promise<void> {
  await executeInstruction<NoSuchAccount>({
    ...buildExecution<NoSuchAccount>(transferContract, input),
    firstStep: (queued) => firstStep(input, queued),
  });
}

/**
 * Repeats the name enquiry once if acceptance got no answer to it. Another silence does not delay the transfer: the bank
 * checks the account when it pays.
 */
async function firstStep(
  { tenantId, id, recipientKnown, taskQueue }: TransferInput,
  queued: QueuedCall,
): Promise<Step<NoSuchAccount>> {
  const submit: Step = { do: 'submit', afterMs: 0 };
  if (recipientKnown) return submit;
  const { resolveRecipient } = proxyActivities<Activities>({
    ...providerCall,
    ...ofFirstSubmission,
    taskQueue,
  });
  const found = await queued(() => resolveRecipient({ tenantId, id })).catch(() => null);
  if (found?.kind !== 'no_such_account') return submit;
  return {
    do: 'applyOutcome',
    fact: { kind: 'no_such_account', providerRequestId: null, via: 'poll' },
  };
}
