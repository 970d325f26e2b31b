import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { PaymentInput } from '../src/capabilities/charges/workflow-contract.js';
import { refundWords } from '../src/capabilities/refunds/labels.js';
import { localActivities } from './local-activities.js';
import { localProviderCall, ownStore, providerCall } from './policies.js';
import { executeInstruction } from './instruction/execute.js';

const store = localActivities(ownStore);
const local = localActivities(localProviderCall);

/** Keeps one accepted refund, as instruction/execute.ts does it. Its id is `refund/<refund id>`. */
export async function refund(input: PaymentInput): Promise<void> {
  const provider = proxyActivities<Activities>({ ...providerCall, taskQueue: input.taskQueue });
  await executeInstruction({
    ref: { tenantId: input.tenantId, id: input.id },
    rateLimitKey: input.rateLimitKey,
    acceptedAtMs: input.acceptedAtMs,
    policy: input.policy,
    labels: refundWords,
    activities: {
      submit: provider.submitRefund,
      submitLocally: local.submitRefundLocally,
      verify: provider.verifyRefund,
      applyOutcome: store.applyRefundOutcome,
      readInstructionStatus: store.readRefundInstructionStatus,
      recordOperatorCommand: store.recordRefundOperatorCommand,
      raiseAttention: store.raiseRefundAttention,
      recordCancellationRequest: store.recordRefundCancellationRequest,
    },
    firstStep: async () => ({ do: 'submit', afterMs: 0 }),
    continueAsNew: () => continueAsNew<typeof refund>(input),
  });
}
