import { continueAsNew } from '@temporalio/workflow';
import {
  cardStateContract,
  type CardStateInput,
} from '../src/capabilities/card-states/workflow-contract.js';
import { executeInSequence } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';
import { localActivities } from './local-activities.js';
import { ownReads } from './policies.js';

const reads = localActivities(ownReads);

/**
 * Executes a card's open locks, unlocks and closings one after the other, and ends when there is none. The next change
 * starts it again. Its id is `card-state/<card id>`.
 */
export async function cardState(input: CardStateInput): Promise<void> {
  const { tenantId, cardId } = input;
  await executeInSequence(cardStateContract.labels, async () => {
    const next = await reads.findNextCardState({ tenantId, cardId });
    return (
      next && {
        ...buildExecution(cardStateContract, { ...input, ...next }),
        repeatable: true,
        continueAsNew: () => continueAsNew<typeof cardState>(input),
      }
    );
  });
}
