import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { NoSuchAccount, TransferInput } from '../src/transfers/reports.js';
import { transferWords } from '../src/transfers/words.js';
import { localActivities } from './local-calls.js';
import { callHere, ownStore, providerCall } from './policies.js';
import type { Step } from './pursuit-steps.js';
import { pursue } from './pursuit.js';

const store = localActivities(ownStore);
const here = localActivities(callHere);

/** Keeps one accepted transfer, as pursuit.ts does it. Its id is `transfer/<transfer id>`. */
export async function transfer(input: TransferInput): Promise<void> {
  const provider = proxyActivities<Activities>({ ...providerCall, taskQueue: input.providerQueue });
  await pursue<NoSuchAccount>({
    ref: { tenant: input.tenant, id: input.id },
    provider: input.provider,
    acceptedAtMs: input.acceptedAtMs,
    policy: input.policy,
    words: transferWords,
    activities: {
      send: provider.submitTransfer,
      ...(input.tryHere && { sendHere: here.submitTransferHere }),
      verify: provider.verifyTransfer,
      settle: store.settleTransfer,
      readStanding: store.readStanding,
      noteOperator: store.noteOperator,
      raiseAttention: store.raiseAttention,
      noteCancellation: store.noteCancellation,
    },
    firstStep: () => firstStep(input, provider),
    startOver: () => continueAsNew<typeof transfer>(input),
  });
}

/** Asks for the name once where acceptance could not. Silence is no reason to wait: the bank checks when it pays. */
async function firstStep(
  { tenant, id, recipientKnown }: TransferInput,
  { resolveRecipient }: Pick<Activities, 'resolveRecipient'>,
): Promise<Step<NoSuchAccount>> {
  const send: Step = { do: 'send', afterMs: 0 };
  if (recipientKnown) return send;
  const found = await resolveRecipient({ tenant, id }).catch(() => ({ kind: 'no_answer' }));
  if (found.kind !== 'no_such_account') return send;
  return { do: 'settle', fact: { kind: 'no_such_account', providerRequestId: null, via: 'poll' } };
}
