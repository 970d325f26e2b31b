import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { controlWords } from '../src/cards/control/words.js';
import type { CardControlInput } from '../src/cards/reports.js';
import { operationStore, operationSubject } from './card-operations.js';
import { localActivities } from './local-calls.js';
import { callHere, ownStore, providerCall } from './policies.js';
import { pursueInTurn } from './pursuit.js';

const store = localActivities(ownStore);
const here = localActivities(callHere);

/**
 * Has a card stand at its issuer as its newest lock, unlock or closing wants it, and ends when it does: the next one
 * starts it again. Its id is `card/<card id>`.
 */
export async function cardControl(input: CardControlInput): Promise<void> {
  const { tenant, card } = input;
  const issuer = proxyActivities<Activities>({ ...providerCall, taskQueue: input.queue });
  await pursueInTurn(controlWords, async () => {
    const open = await store.nextCardControl({ tenant, card });
    return (
      open && {
        ...operationSubject({ ...input, ...open }),
        repeatable: true,
        words: controlWords,
        activities: {
          ...operationStore,
          send: issuer.setCardState,
          sendHere: here.setCardStateHere,
          verify: issuer.verifyCardState,
          settle: store.settleCardState,
        },
        firstStep: async () => ({ do: 'send' as const, afterMs: 0 }),
        startOver: () => continueAsNew<typeof cardControl>(input),
      }
    );
  });
}
