import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  type FundingInput,
  cardFundingLabels,
  fundReversalLabels,
} from '../src/capabilities/card-fundings/workflow-contract.js';
import { operationActivities, operationExecution } from './card-operations.js';
import { localActivities } from './local-activities.js';
import { localProviderCall, ownStore, providerCall } from './policies.js';
import type { InstructionExecution } from './instruction/execution.js';
import { executeInSequence } from './instruction/execute.js';

const store = localActivities(ownStore);
const local = localActivities(localProviderCall);

/**
 * Keeps one accepted funding of a card, as instruction/execute.ts does it. One that is not confirmed by its deadline is unwound by
 * this same run, until nothing of it is on the card, or all of it is paid for. Its id is `card-funding/<operation id>`.
 */
export async function cardFunding(input: FundingInput): Promise<void> {
  const { deadlineAtMs: atMs, tenantId, id } = input;
  const expire = () => store.expireCardFunding({ tenantId, id });
  const late = async () => atMs !== null && Date.now() >= atMs && (await expire()).fundReversal;
  const inTime = async () => (await expire()).over;
  const deadline = atMs === null ? {} : { deadline: { atMs, expire: inTime } };
  const phases = ['funding', 'unwinding'];
  await executeInSequence(cardFundingLabels, async () => {
    for (let phase = phases.shift(); phase; phase = phases.shift()) {
      const fundReversal = await late();
      if (fundReversal) {
        phases.length = 0;
        return fundReversalOf(input, fundReversal);
      }
      if (phase === 'funding') return { ...fundingExecution(input), ...deadline };
    }
    return null;
  });
}

function fundingExecution(input: FundingInput): InstructionExecution {
  const issuer = proxyActivities<Activities>({ ...providerCall, taskQueue: input.taskQueue });
  return {
    ...operationExecution(input),
    labels: cardFundingLabels,
    activities: {
      ...operationActivities,
      submit: issuer.submitCardFunding,
      submitLocally: local.submitCardFundingLocally,
      verify: issuer.verifyCardFunding,
      applyOutcome: store.applyCardFundingOutcome,
    },
    firstStep: async () => ({ do: 'submit', afterMs: 0 }),
    continueAsNew: () => continueAsNew<typeof cardFunding>(input),
  };
}

/** Nothing is sent: each question also asks for the funding back. What would allow to send again proves its absence. */
function fundReversalOf(input: FundingInput, id: string): InstructionExecution {
  const { activities, ...execution } = fundingExecution({ ...input, id });
  const absent = { kind: 'rejected', code: 'deadline_exceeded', via: 'poll' } as const;
  return {
    ...execution,
    acceptedAtMs: input.deadlineAtMs ?? input.acceptedAtMs,
    labels: fundReversalLabels,
    activities: {
      ...operationActivities,
      submit: async () => ({ ...absent, providerRequestId: null }),
      verify: activities.verify,
      applyOutcome: activities.applyOutcome,
    },
    firstStep: async () => ({ do: 'verify', afterMs: 0, stuck: null }),
    continueAsNew: () => continueAsNew<typeof cardFunding>(input),
  };
}
