import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { PaymentInput } from '../src/capabilities/charges/workflow-contract.js';
import { chargeWords } from '../src/capabilities/charges/labels.js';
import { localActivities } from './local-activities.js';
import { localProviderCall, ownStore, providerCall } from './policies.js';
import { executeInstruction } from './instruction/execute.js';

const store = localActivities(ownStore);
const local = localActivities(localProviderCall);

/** Keeps one accepted charge, as instruction/execute.ts does it. Its id is `charge/<charge id>`. */
export async function charge(input: PaymentInput): Promise<void> {
  const provider = proxyActivities<Activities>({ ...providerCall, taskQueue: input.taskQueue });
  await executeInstruction({
    ref: { tenantId: input.tenantId, id: input.id },
    rateLimitKey: input.rateLimitKey,
    acceptedAtMs: input.acceptedAtMs,
    policy: input.policy,
    labels: chargeWords,
    activities: {
      submit: provider.submitCharge,
      submitLocally: local.submitChargeLocally,
      verify: provider.verifyCharge,
      applyOutcome: store.applyChargeOutcome,
      readInstructionStatus: store.readChargeInstructionStatus,
      recordOperatorCommand: store.recordChargeOperatorCommand,
      raiseAttention: store.raiseChargeAttention,
      recordCancellationRequest: store.recordChargeCancellationRequest,
    },
    firstStep: async () => ({ do: 'submit', afterMs: 0 }),
    continueAsNew: () => continueAsNew<typeof charge>(input),
  });
}
