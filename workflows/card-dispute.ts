import {
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  cardDisputeContract,
  type DisputeWatchInput,
} from '../src/capabilities/card-disputes/workflow-contract.js';
import type { InstructionInput } from '../src/core/instructions/workflow-contract.js';
import { untilStored } from './instruction/blocked.js';
import { executeInstruction } from './instruction/execute.js';
import { buildExecution } from './instruction/execution.js';
import { recordChangedSignal } from './instruction/operator-messages.js';
import { localActivities } from './local-activities.js';
import { ownStore, ownWork } from './policies.js';

/** Submits a dispute of a card payment to its issuer, or withdraws it. Its id is `card-dispute/<operation id>`. */
export async function cardDispute(input: InstructionInput): Promise<void> {
  await executeInstruction(buildExecution(cardDisputeContract, input));
}

const store = localActivities(ownStore);

/**
 * Runs from the first question about an open dispute until it is decided. The issuer reports its credits and its decision,
 * each of which moves money, and a report may be lost: the issuer is asked daily. Its id is `card-dispute-watch/<dispute id>`.
 * A cancellation is ignored, because the dispatcher would start it again.
 */
export async function cardDisputeWatch(input: DisputeWatchInput): Promise<void> {
  await CancellationScope.nonCancellable(() => askUntilDecided(input));
}

async function askUntilDecided(input: DisputeWatchInput): Promise<void> {
  let changed = false;
  setHandler(recordChangedSignal, () => void (changed = true), {
    description: 'Reads the dispute now, because it may have changed.',
  });
  const { askAboutCardDispute } = proxyActivities<Activities>({
    ...ownWork,
    taskQueue: input.taskQueue ?? workflowInfo().taskQueue,
  });
  setCurrentDetails('The issuer is asked daily until it has decided the dispute.');
  const untilChanged = async (ms: number) => {
    changed = false;
    await condition(() => changed, ms);
  };
  for (;;) {
    changed = false;
    const check = await untilStored(() => store.checkOpenCardDispute(input), {
      pause: untilChanged,
    });
    if (!check.open) break;
    if (check.askInMs === 0) await askAboutCardDispute(input);
    else await condition(() => changed, check.askInMs);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof cardDisputeWatch>(input);
  }
  setCurrentDetails('Done: the issuer has decided the dispute, or it was withdrawn.');
}
