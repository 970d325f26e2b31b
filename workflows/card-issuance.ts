import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  cardIssuanceLabels,
  type OperationInput,
} from '../src/capabilities/cards/workflow-contract.js';
import { operationActivities, operationExecution } from './card-operations.js';
import { localActivities } from './local-activities.js';
import { localProviderCall, ownStore, providerCall } from './policies.js';
import { executeInstruction } from './instruction/execute.js';

const store = localActivities(ownStore);
const local = localActivities(localProviderCall);

/** Has one accepted card issued, as instruction/execute.ts does it. Its id is `card-issuance/<operation id>`. */
export async function cardIssuance(input: OperationInput): Promise<void> {
  const issuer = proxyActivities<Activities>({ ...providerCall, taskQueue: input.taskQueue });
  await executeInstruction({
    ...operationExecution(input),
    labels: cardIssuanceLabels,
    activities: {
      ...operationActivities,
      submit: issuer.submitCardIssuance,
      submitLocally: local.submitCardIssuanceLocally,
      verify: issuer.verifyCardIssuance,
      applyOutcome: store.applyCardIssuanceOutcome,
    },
    firstStep: async () => ({ do: 'submit', afterMs: 0 }),
    continueAsNew: () => continueAsNew<typeof cardIssuance>(input),
  });
}
