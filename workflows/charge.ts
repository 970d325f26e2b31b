import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { PaymentInput } from '../src/payments/reports.js';
import { chargeWords } from '../src/payments/charges/words.js';
import { localActivities } from './local-calls.js';
import { callHere, ownStore, providerCall } from './policies.js';
import { pursue } from './pursuit.js';

const store = localActivities(ownStore);
const here = localActivities(callHere);

/** Keeps one accepted charge, as pursuit.ts does it. Its id is `charge/<charge id>`. */
export async function charge(input: PaymentInput): Promise<void> {
  const provider = proxyActivities<Activities>({ ...providerCall, taskQueue: input.queue });
  await pursue({
    ref: { tenant: input.tenant, id: input.id },
    provider: input.calls,
    acceptedAtMs: input.acceptedAtMs,
    policy: input.policy,
    words: chargeWords,
    activities: {
      send: provider.submitCharge,
      sendHere: here.submitChargeHere,
      verify: provider.verifyCharge,
      settle: store.settleCharge,
      readStanding: store.readChargeStanding,
      noteOperator: store.noteChargeOperator,
      raiseAttention: store.raiseChargeAttention,
      noteCancellation: store.noteChargeCancellation,
    },
    firstStep: async () => ({ do: 'send', afterMs: 0 }),
    startOver: () => continueAsNew<typeof charge>(input),
  });
}
