import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  cardStateLabels,
  type CardStateInput,
} from '../src/capabilities/card-states/workflow-contract.js';
import { operationActivities, operationExecution } from './card-operations.js';
import { localActivities } from './local-activities.js';
import { localProviderCall, ownStore, providerCall } from './policies.js';
import { executeInSequence } from './instruction/execute.js';

const store = localActivities(ownStore);
const local = localActivities(localProviderCall);

/**
 * Has a card stand at its issuer as its newest lock, unlock or closing wants it, and ends when it does: the next one
 * starts it again. Its id is `card-state/<card id>`.
 */
export async function cardState(input: CardStateInput): Promise<void> {
  const { tenantId, card } = input;
  const issuer = proxyActivities<Activities>({ ...providerCall, taskQueue: input.taskQueue });
  await executeInSequence(cardStateLabels, async () => {
    const open = await store.findNextCardState({ tenantId, card });
    return (
      open && {
        ...operationExecution({ ...input, ...open }),
        repeatable: true,
        labels: cardStateLabels,
        activities: {
          ...operationActivities,
          submit: issuer.submitCardState,
          submitLocally: local.submitCardStateLocally,
          verify: issuer.verifyCardState,
          applyOutcome: store.applyCardStateOutcome,
        },
        firstStep: async () => ({ do: 'submit' as const, afterMs: 0 }),
        continueAsNew: () => continueAsNew<typeof cardState>(input),
      }
    );
  });
}
