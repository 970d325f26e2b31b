import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { judge } from '../src/transfers/operator.js';
import type { CallReport, FactReport, TransferInput } from '../src/transfers/reports.js';
import { createAttention, type Attention } from './attention.js';
import { hasMail, openInbox, type Inbox, type PendingCommand } from './operator-inbox.js';
import { ownStore, providerCall } from './policies.js';
import { newPursuit, nextStep, oneMoreTry, type Pursuit, type Step } from './transfer-steps.js';

const store = proxyLocalActivities<Activities>(ownStore);

const WHAT_TO_DO =
  'The money is held and nothing is guessed. The bank is asked on and on: the transfer ends by itself as soon as ' +
  'the bank calls back or gives a final answer. You can send a signal or an update (More Actions): **verify** asks ' +
  'the bank now, **retry** also sends again where the bank rules the payment out, **complete** and **fail** end it ' +
  'if the bank agrees. Each takes {"actor": "you", "reason": "why"}.';

/**
 * Keeps one accepted transfer: lets the order out once, asks before it lets it out again, and settles what is proven.
 * The record decides; this run drives, and may be ended and started again at any moment. Its id is
 * `transfer/<transfer id>`. A cancellation is noted and changes nothing: the money may be on its way.
 */
export async function transfer(input: TransferInput): Promise<void> {
  const inbox = openInbox();
  const ref = { tenant: input.tenant, id: input.id };
  void CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(() => store.noteCancellation(ref)),
  );
  await CancellationScope.nonCancellable(() => pursue(input, inbox));
}

type Run = {
  ref: { tenant: string; id: string };
  input: TransferInput;
  provider: Activities;
  attention: Attention;
  inbox: Inbox;
};

async function pursue(input: TransferInput, inbox: Inbox): Promise<void> {
  const ref = { tenant: input.tenant, id: input.id };
  const attention = createAttention({
    dueAtMs: Date.now() + input.policy.attentionAfterMs,
    record: (reason) => store.raiseAttention({ ...ref, reason }),
    whatToDo: WHAT_TO_DO,
  });
  const provider = proxyActivities<Activities>({ ...providerCall, taskQueue: input.providerQueue });
  const run: Run = { ref, input, provider, attention, inbox };

  let pursuit = newPursuit();
  let step: Step = (await isRecipientUnknown(run))
    ? { do: 'settle', fact: { kind: 'refused', code: 'invalid_account', providerRequestId: null } }
    : { do: 'send', afterMs: 0 };
  for (;;) {
    await noteUnreadable(run);
    const pending = inbox.commands.shift();
    if (pending) [pursuit, step] = await obey(run, pending, pursuit);
    else if (step.do === 'end') break;
    else if (step.do === 'settle') step = await settle(run, step.fact);
    else {
      // Nothing is lost by it: the next run asks before it does anything.
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof transfer>(input);
      [pursuit, step] = await call(run, step, pursuit);
    }
  }
  attention.clear('Done: the record and the ledger tell how it ended.');
  await condition(allHandlersFinished);
}

/** Waits as the step says, then lets the order out or asks; a waker or an operator ends the wait. */
async function call(
  run: Run,
  step: Extract<Step, { do: 'send' | 'ask' }>,
  pursuit: Pursuit,
): Promise<[Pursuit, Step]> {
  const { ref, input, provider, attention, inbox } = run;
  if (step.do === 'ask' && step.stuck !== null) await attention.raise(step.stuck);
  if (step.afterMs > 0) {
    const leftMs = await attention.dueInMs();
    await condition(() => hasMail(inbox), Math.max(1, Math.min(step.afterMs, leftMs)));
  }
  if (inbox.commands.length + inbox.unreadable.length > 0) return [pursuit, step];
  const woken = inbox.awake;
  inbox.awake = false;
  const answer: Promise<CallReport> =
    step.do === 'send' && !woken
      ? provider.submitTransfer({ ...ref, sends: pursuit.sends })
      : provider.verifyTransfer({ ...ref, nextPollMs: pursuit.pollMs });
  const report = await answer.catch(silence);
  if (report.kind === 'not_permitted' && report.attention) await attention.raise(report.attention);
  return nextStep(pursuit, report, input.policy, Date.now());
}

/** Does what an operator asked for, as far as the bank agrees, and answers. The bank is always asked first. */
async function obey(run: Run, pending: PendingCommand, pursuit: Pursuit): Promise<[Pursuit, Step]> {
  const { ref, input, provider } = run;
  const { command } = pending;
  const { actor, reason } = command;
  const bank = await provider
    .verifyTransfer({ ...ref, nextPollMs: pursuit.pollMs, anyway: true })
    .catch(silence);
  let [next, step] = nextStep(pursuit, bank, input.policy, Date.now());
  const verdict = judge(command, bank);
  let { done, message } = verdict;
  if (step.do === 'settle') step = await settle(run, step.fact);
  if (verdict.act === 'one_more_try') next = oneMoreTry(next);
  if (verdict.act === 'confirm' || verdict.act === 'release') {
    const fact: FactReport =
      verdict.act === 'confirm'
        ? { kind: 'confirmed', providerRequestId: null }
        : { kind: 'refused', code: 'operator', providerRequestId: null };
    const settled = await store.settleTransfer({ ...ref, fact, operator: { actor, reason } });
    const wanted = verdict.act === 'confirm' ? 'completed' : 'failed';
    if (settled.status !== wanted) {
      [done, message] = [
        false,
        `The transfer is ${settled.status}: ${settled.attention ?? message}`,
      ];
    }
    step = afterSettling(run, settled);
  }
  const force = command.force ? ' by force' : '';
  await store.noteOperator({
    ...ref,
    actor,
    detail: `${command.kind}${force}: ${message} (${reason})`,
  });
  pending.answer = { done, message };
  return [next, step];
}

async function settle(run: Run, fact: FactReport): Promise<Step> {
  return afterSettling(run, await store.settleTransfer({ ...run.ref, fact }));
}

/** A transfer that ended stays with us only as long as an operator or a watch needs it. */
function afterSettling(
  { input }: Run,
  { status, attention, watched }: Awaited<ReturnType<Activities['settleTransfer']>>,
): Step {
  const open = status === 'pending' || status === 'processing';
  if (!open && attention === null && !watched) return { do: 'end' };
  return { do: 'ask', afterMs: input.policy.pollMaxMs, stuck: attention };
}

/** Asks for the name once where acceptance could not. Silence is no reason to wait: the bank checks when it pays. */
async function isRecipientUnknown({ input, provider, ref }: Run): Promise<boolean> {
  if (input.recipientKnown) return false;
  const found = await provider.resolveRecipient(ref).catch(() => ({ kind: 'no_answer' }));
  return found.kind === 'no_such_account';
}

async function noteUnreadable({ inbox, ref }: Run): Promise<void> {
  for (let problem = inbox.unreadable.shift(); problem; problem = inbox.unreadable.shift()) {
    const detail = `a message was ignored: ${problem}`;
    await store.noteOperator({ ...ref, actor: 'temporal', detail });
  }
}

/** A call that did not come back says nothing about the money. */
const silence = (): CallReport => ({ kind: 'unknown', reason: 'activity_failed' });
