import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { issuingWords } from '../src/cards/issuing/words.js';
import type { OperationInput } from '../src/cards/reports.js';
import { operationStore, operationSubject } from './card-operations.js';
import { localActivities } from './local-calls.js';
import { callHere, ownStore, providerCall } from './policies.js';
import { pursue } from './pursuit.js';

const store = localActivities(ownStore);
const here = localActivities(callHere);

/** Has one accepted card issued, as pursuit.ts does it. Its id is `card-issuing/<operation id>`. */
export async function cardIssuing(input: OperationInput): Promise<void> {
  const issuer = proxyActivities<Activities>({ ...providerCall, taskQueue: input.queue });
  await pursue({
    ...operationSubject(input),
    words: issuingWords,
    activities: {
      ...operationStore,
      send: issuer.issueCard,
      sendHere: here.issueCardHere,
      verify: issuer.verifyCardIssue,
      settle: store.settleCardIssue,
    },
    firstStep: async () => ({ do: 'send', afterMs: 0 }),
    startOver: () => continueAsNew<typeof cardIssuing>(input),
  });
}
