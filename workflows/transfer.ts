import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type {
  NoSuchAccount,
  TransferInput,
} from '../src/capabilities/transfers/workflow-contract.js';
import { transferLabels } from '../src/capabilities/transfers/labels.js';
import { localActivities } from './local-activities.js';
import { localProviderCall, ownStore, providerCall } from './policies.js';
import type { Step } from './instruction/progress.js';
import { executeInstruction } from './instruction/execute.js';

const store = localActivities(ownStore);
const local = localActivities(localProviderCall);

/** Keeps one accepted transfer, as instruction/execute.ts does it. Its id is `transfer/<transfer id>`. */
export async function transfer(input: TransferInput): Promise<void> {
  const provider = proxyActivities<Activities>({ ...providerCall, taskQueue: input.taskQueue });
  await executeInstruction<NoSuchAccount>({
    ref: { tenantId: input.tenantId, id: input.id },
    rateLimitKey: input.rateLimitKey,
    acceptedAtMs: input.acceptedAtMs,
    policy: input.policy,
    labels: transferLabels,
    activities: {
      submit: provider.submitTransfer,
      submitLocally: local.submitTransferLocally,
      verify: provider.verifyTransfer,
      applyOutcome: store.applyTransferOutcome,
      readInstructionStatus: store.readInstructionStatus,
      recordOperatorCommand: store.recordOperatorCommand,
      raiseAttention: store.raiseAttention,
      recordCancellationRequest: store.recordCancellationRequest,
    },
    firstStep: () => firstStep(input, provider),
    continueAsNew: () => continueAsNew<typeof transfer>(input),
  });
}

/** Asks for the name once where acceptance could not. Silence is no reason to wait: the bank checks when it pays. */
async function firstStep(
  { tenantId, id, recipientKnown }: TransferInput,
  { resolveRecipient }: Pick<Activities, 'resolveRecipient'>,
): Promise<Step<NoSuchAccount>> {
  const send: Step = { do: 'submit', afterMs: 0 };
  if (recipientKnown) return send;
  const found = await resolveRecipient({ tenantId, id }).catch(() => ({ kind: 'no_answer' }));
  if (found.kind !== 'no_such_account') return send;
  return {
    do: 'applyOutcome',
    fact: { kind: 'no_such_account', providerRequestId: null, via: 'poll' },
  };
}
