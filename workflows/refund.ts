import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { PaymentInput } from '../src/payments/reports.js';
import { refundWords } from '../src/payments/refunds/words.js';
import { localActivities } from './local-calls.js';
import { callHere, ownStore, providerCall } from './policies.js';
import { pursue } from './pursuit.js';

const store = localActivities(ownStore);
const here = localActivities(callHere);

/** Keeps one accepted refund, as pursuit.ts does it. Its id is `refund/<refund id>`. */
export async function refund(input: PaymentInput): Promise<void> {
  const provider = proxyActivities<Activities>({ ...providerCall, taskQueue: input.queue });
  await pursue({
    ref: { tenant: input.tenant, id: input.id },
    provider: input.calls,
    acceptedAtMs: input.acceptedAtMs,
    policy: input.policy,
    words: refundWords,
    activities: {
      send: provider.submitRefund,
      sendHere: here.submitRefundHere,
      verify: provider.verifyRefund,
      settle: store.settleRefund,
      readStanding: store.readRefundStanding,
      noteOperator: store.noteRefundOperator,
      raiseAttention: store.raiseRefundAttention,
      noteCancellation: store.noteRefundCancellation,
    },
    firstStep: async () => ({ do: 'send', afterMs: 0 }),
    startOver: () => continueAsNew<typeof refund>(input),
  });
}
