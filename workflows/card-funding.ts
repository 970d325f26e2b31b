import { continueAsNew } from '@temporalio/workflow';
import {
  cardFundingContract,
  fundReversalLabels,
  type CardFundingInput,
} from '../src/capabilities/card-fundings/workflow-contract.js';
import { untilStored } from './instruction/blocked.js';
import { executeInSequence } from './instruction/execute.js';
import { buildExecution, type InstructionExecution } from './instruction/execution.js';
import { localActivities } from './local-activities.js';
import { ownStore } from './policies.js';

const store = localActivities(ownStore);

/**
 * Executes one card funding. If a just-in-time funding misses its deadline, the same run then executes its fund
 * reversal, until nothing of the funding is on the card or the wallet has paid for it. Its id is
 * `card-funding/<operation id>`.
 */
export async function cardFunding(input: CardFundingInput): Promise<void> {
  const { deadlineAtMs: atMs, tenantId, id } = input;
  const expire = () => store.expireCardFunding({ tenantId, id });
  const isLate = () => atMs !== null && Date.now() >= atMs;
  const closeInTime = async () => (await expire()).closed;
  const deadline = atMs === null ? {} : { deadline: { atMs, expire: closeInTime } };
  let phase: 'start' | 'funding' | 'done' = 'start';
  await executeInSequence(cardFundingContract.labels, async () => {
    if (phase === 'done') return null;
    const reversalId = isLate() ? (await untilStored(expire)).fundReversalId : null;
    if (reversalId !== null) {
      phase = 'done';
      return fundReversal(input, reversalId);
    }
    if (phase === 'funding') {
      phase = 'done';
      return null;
    }
    phase = 'funding';
    return { ...buildExecution(cardFundingContract, input), ...deadline };
  });
}

/** Submits nothing: verifying also requests the reversal, and resend safety proves that the funding cannot arrive any more. */
function fundReversal(input: CardFundingInput, id: string): InstructionExecution {
  const execution = buildExecution(cardFundingContract, { ...input, id });
  const absent = { kind: 'rejected', code: 'deadline_exceeded', via: 'poll' } as const;
  const { submitLocally: _submitLocally, ...activities } = execution.activities;
  return {
    ...execution,
    acceptedAtMs: input.deadlineAtMs ?? input.acceptedAtMs,
    labels: fundReversalLabels,
    activities: { ...activities, submit: async () => ({ ...absent, providerRequestId: null }) },
    firstStep: async () => ({ do: 'verify', afterMs: 0, stuck: null }),
    continueAsNew: () => continueAsNew<typeof cardFunding>(input),
  };
}
