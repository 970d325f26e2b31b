import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { FundingInput } from '../src/cards/funding/reports.js';
import { fundingWords, unwindingWords } from '../src/cards/funding/words.js';
import { operationStore, operationSubject } from './card-operations.js';
import { localActivities } from './local-calls.js';
import { callHere, ownStore, providerCall } from './policies.js';
import type { Subject } from './pursuit-run.js';
import { pursueInTurn } from './pursuit.js';

const store = localActivities(ownStore);
const here = localActivities(callHere);

/**
 * Keeps one accepted funding of a card, as pursuit.ts does it. One that is not confirmed by its deadline is unwound by
 * this same run, until nothing of it is on the card, or all of it is paid for. Its id is `card-funding/<operation id>`.
 */
export async function cardFunding(input: FundingInput): Promise<void> {
  const { deadlineAtMs: atMs, tenant, id } = input;
  const expire = () => store.expireFunding({ tenant, id });
  const late = async () => atMs !== null && Date.now() >= atMs && (await expire()).unwinding;
  const inTime = async () => (await expire()).over;
  const deadline = atMs === null ? {} : { deadline: { atMs, expire: inTime } };
  const turns = ['funding', 'unwinding'];
  await pursueInTurn(fundingWords, async () => {
    for (let turn = turns.shift(); turn; turn = turns.shift()) {
      const unwinding = await late();
      if (unwinding) {
        turns.length = 0;
        return unwindingOf(input, unwinding);
      }
      if (turn === 'funding') return { ...funding(input), ...deadline };
    }
    return null;
  });
}

function funding(input: FundingInput): Subject {
  const issuer = proxyActivities<Activities>({ ...providerCall, taskQueue: input.queue });
  return {
    ...operationSubject(input),
    words: fundingWords,
    activities: {
      ...operationStore,
      send: issuer.submitFunding,
      sendHere: here.submitFundingHere,
      verify: issuer.verifyFunding,
      settle: store.settleFunding,
    },
    firstStep: async () => ({ do: 'send', afterMs: 0 }),
    startOver: () => continueAsNew<typeof cardFunding>(input),
  };
}

/** Nothing is sent: each question also asks for the funding back. What would allow to send again proves its absence. */
function unwindingOf(input: FundingInput, id: string): Subject {
  const { activities, ...subject } = funding({ ...input, id });
  const absent = { kind: 'refused', code: 'deadline_exceeded', via: 'poll' } as const;
  return {
    ...subject,
    acceptedAtMs: input.deadlineAtMs ?? input.acceptedAtMs,
    words: unwindingWords,
    activities: {
      ...operationStore,
      send: async () => ({ ...absent, providerRequestId: null }),
      verify: activities.verify,
      settle: activities.settle,
    },
    firstStep: async () => ({ do: 'ask', afterMs: 0, stuck: null }),
    startOver: () => continueAsNew<typeof cardFunding>(input),
  };
}
