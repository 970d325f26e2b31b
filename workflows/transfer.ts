import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { CallReport, TransferInput } from '../src/transfers/reports.js';
import { searchAttributes } from '../src/transfers/search-attributes.js';
import { ownStore, providerCall } from './policies.js';
import { newPursuit, nextStep, type Step } from './transfer-steps.js';

const store = proxyLocalActivities<Activities>(ownStore);

/** Says that the record may have changed. Carries nothing: facts are in the store. */
export const wakeSignal = defineSignal('wake');

/**
 * Keeps one accepted transfer: lets the order out once, asks before it lets it out again, and settles what is proven.
 * The record decides; this run drives, and may be ended and started again at any moment. Its id is
 * `transfer/<transfer id>`. A cancellation is noted and changes nothing: the money may be on its way.
 */
export async function transfer(input: TransferInput): Promise<void> {
  const ref = { tenant: input.tenant, id: input.id };
  const inbox = { awake: false };
  setHandler(wakeSignal, () => void (inbox.awake = true), {
    description: 'Look at the record now: something about this transfer has become known.',
  });
  void CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(() => store.noteCancellation(ref)),
  );
  await CancellationScope.nonCancellable(() => pursue(input, inbox));
}

async function pursue(input: TransferInput, inbox: { awake: boolean }): Promise<void> {
  const { policy } = input;
  const ref = { tenant: input.tenant, id: input.id };
  const provider = proxyActivities<Activities>({ ...providerCall, taskQueue: input.providerQueue });
  const attention = createAttention(ref, Date.now() + policy.attentionAfterMs);

  if (!input.recipientKnown) {
    const found = await provider
      .resolveRecipient(ref)
      .catch(() => ({ kind: 'no_answer' as const }));
    if (found.kind === 'no_such_account') {
      const fact = { kind: 'refused', code: 'invalid_account', providerRequestId: null } as const;
      await store.settleTransfer({ ...ref, fact });
      return;
    }
  }

  let pursuit = newPursuit();
  let step: Step = { do: 'send', afterMs: 0 };
  while (step.do !== 'end') {
    if (step.do === 'settle') {
      const settled = await store.settleTransfer({ ...ref, fact: step.fact });
      if (!settled.open) break;
      step = {
        do: 'ask',
        afterMs: policy.pollMaxMs,
        stuck: 'the bank reports what was not ordered',
      };
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof transfer>(input);
    if (step.do === 'ask' && step.stuck) await attention.raise(step.stuck);
    const woken = await rest(step.afterMs, inbox, attention);
    const call: Promise<CallReport> =
      step.do === 'send' && !woken
        ? provider.submitTransfer({ ...ref, sends: pursuit.sends })
        : provider.verifyTransfer({ ...ref, nextPollMs: pursuit.pollMs });
    const report = await call.catch(silence);
    if (report.kind === 'not_permitted' && report.attention)
      await attention.raise(report.attention);
    [pursuit, step] = nextStep(pursuit, report, policy, Date.now());
  }
  attention.clear();
}

/** A call that did not come back says nothing about the money. */
const silence = (): CallReport => ({ kind: 'unknown', reason: 'activity_failed' });

/** Waits, but never past the moment when an operator has to be called. True when somebody woke us. */
async function rest(
  forMs: number,
  inbox: { awake: boolean },
  attention: ReturnType<typeof createAttention>,
): Promise<boolean> {
  if (forMs > 0) {
    const leftMs = await attention.dueInMs();
    await condition(() => inbox.awake, Math.max(1, Math.min(forMs, leftMs)));
  }
  const woken = inbox.awake;
  inbox.awake = false;
  return woken;
}

/** The call for an operator: on the record, in the search attribute and in plain words on the workflow's page. */
function createAttention(ref: { tenant: string; id: string }, dueAtMs: number) {
  let raised = false;
  const raise = async (reason: string) => {
    if (raised) return;
    raised = true;
    await store.raiseAttention({ ...ref, reason });
    upsertSearchAttributes([{ key: searchAttributes.attention, value: true }]);
    setCurrentDetails(
      `**Needs an operator:** ${reason}.\n\nThe money is held and nothing is guessed. The bank is asked on and on: ` +
        `the transfer ends by itself as soon as the bank calls back or gives a final answer.`,
    );
  };
  return {
    raise,
    /** Time left until an operator has to be called; calls when it has come. */
    async dueInMs(): Promise<number> {
      if (!raised && Date.now() >= dueAtMs)
        await raise('no final answer from the bank in good time');
      return raised ? Infinity : dueAtMs - Date.now();
    },
    clear() {
      if (raised) upsertSearchAttributes([{ key: searchAttributes.attention, value: false }]);
      setCurrentDetails('Done: the record and the ledger tell how it ended.');
    },
  };
}
