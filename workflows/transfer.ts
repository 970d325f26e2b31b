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
import { describe, judge } from '../src/transfers/operator.js';
import type {
  CallReport,
  FactReport,
  OperatorAnswer,
  OperatorCommand,
  TransferInput,
} from '../src/transfers/reports.js';
import { createAttention, type Attention } from './attention.js';
import { hasMail, openInbox, type Inbox, type PendingCommand } from './operator-inbox.js';
import { ownStore, providerCall } from './policies.js';
import { newPursuit, nextStep, oneMoreTry, type Pursuit, type Step } from './transfer-steps.js';

const store = proxyLocalActivities<Activities>(ownStore);

const COMMANDS =
  'Send a signal or an update (More Actions): **verify** asks the bank now, **retry** also sends again where the bank ' +
  'rules the payment out, **complete** and **fail** end it if the bank agrees. Each takes ' +
  // As code: the page would make curly quotes of these, which could not be pasted.
  '`{"actor": "you", "reason": "why"}`, and **fail** also `"force": true` against a bank that is silent.';

const WHILE_OPEN =
  'The money is held and nothing is guessed. The bank is asked on: when it calls back or decides, the transfer ends by ' +
  `itself.\n\n${COMMANDS}`;

const WHILE_CLOSED =
  'The transfer has ended, and the bank says something else than the books. Its timeline tells what. **complete** ' +
  `stands by the payment if the bank confirms it: one in suspense is then paid by the wallet.\n\n${COMMANDS}`;

const DONE = 'Done: the record and the ledger tell how it ended.';
const WATCHED =
  'An operator gave this transfer up and its money is back in the wallet. The bank is asked on for a day: a payment ' +
  'that shows up is booked to suspense.';

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
    dueAtMs: input.acceptedAtMs + input.policy.attentionAfterMs,
    record: (reason) => store.raiseAttention({ ...ref, reason }),
  });
  const provider = proxyActivities<Activities>({ ...providerCall, taskQueue: input.providerQueue });
  const run: Run = { ref, input, provider, attention, inbox };

  let pursuit = newPursuit();
  let step: Step = (await isRecipientUnknown(run))
    ? { do: 'settle', fact: { kind: 'no_such_account', providerRequestId: null, via: 'poll' } }
    : { do: 'send', afterMs: 0 };
  for (;;) {
    await noteUnreadable(run);
    const pending = inbox.commands.shift();
    if (pending) [pursuit, step] = await obey(run, pending, pursuit);
    else if (step.do === 'end') break;
    else if (step.do === 'settle') step = await settle(run, step.fact);
    else {
      // Nothing is lost by it: the next run asks before it does anything.
      if (workflowInfo().continueAsNewSuggested) {
        await condition(allHandlersFinished);
        if (!hasMail(inbox)) await continueAsNew<typeof transfer>(input);
      }
      [pursuit, step] = await call(run, step, pursuit);
    }
  }
  attention.clear(DONE);
  await condition(allHandlersFinished);
}

/** Waits as the step says, then lets the order out or asks; a waker or an operator ends the wait. */
async function call(
  run: Run,
  step: Extract<Step, { do: 'send' | 'ask' }>,
  pursuit: Pursuit,
): Promise<[Pursuit, Step]> {
  const { ref, input, provider, attention, inbox } = run;
  const closed = step.do === 'ask' && step.closed === true;
  if (step.do === 'ask' && step.stuck !== null) {
    await attention.raise(step.stuck, closed ? WHILE_CLOSED : WHILE_OPEN);
  }
  if (step.afterMs > 0) {
    const leftMs = closed ? Infinity : await attention.dueInMs(WHILE_OPEN);
    // A pause that the bank asked for is kept; a question may come earlier.
    const waitMs = step.do === 'send' ? step.afterMs : Math.min(step.afterMs, leftMs);
    await condition(() => hasMail(inbox), Math.max(1, waitMs));
  }
  if (inbox.commands.length + inbox.unreadable.length > 0) return [pursuit, step];
  const woken = inbox.awake;
  inbox.awake = false;
  const askedMs = Date.now();
  const answer: Promise<CallReport> =
    step.do === 'send' && !woken
      ? provider.submitTransfer({ ...ref, sends: pursuit.sends, quietly: step.quietly ?? false })
      : provider.verifyTransfer({ ...ref, nextPollMs: pursuit.pollMs });
  const report = await answer.catch(silence);
  if (report.kind === 'not_permitted' && report.attention !== null) {
    await attention.raise(report.attention, WHILE_OPEN);
  }
  const heardMs = Date.now();
  if (!closed) tellOfBank(attention, report, heardMs);
  return nextStep(pursuit, report, input.policy, { askedMs, heardMs });
}

/** The bank's last word, for the page. What the record alone said is no word of the bank. */
function tellOfBank(attention: Attention, report: CallReport, heardMs: number): void {
  if (report.kind === 'closed' || report.kind === 'not_permitted') return;
  const at = new Date(heardMs).toISOString().slice(0, 19).replace('T', ' ');
  attention.know({ bank: `Last known (${at} UTC): ${describe(report)}.` });
}

/** Does what an operator asked for, as far as the bank agrees, and answers. The bank is always asked first. */
async function obey(run: Run, pending: PendingCommand, before: Pursuit): Promise<[Pursuit, Step]> {
  const { ref, input, provider, attention } = run;
  const { command } = pending;
  const pursuit = command.kind === 'retry' ? oneMoreTry(before) : before;
  const standing = await store.readStanding(ref);
  const askedMs = Date.now();
  const bank = await provider
    .verifyTransfer({ ...ref, nextPollMs: pursuit.pollMs, anyway: true })
    .catch(silence);
  const asked = { askedMs, heardMs: Date.now() };
  const [next, first] = nextStep(pursuit, bank, input.policy, asked);
  tellOfBank(attention, bank, asked.heardMs);
  const verdict = judge(command, bank, standing);
  let step = first;
  if (step.do === 'settle') step = await settle(run, step.fact);
  if (verdict.act === 'confirm' || verdict.act === 'release') {
    const kind = verdict.act === 'confirm' ? 'confirmed' : 'refused';
    step = await settle(run, operatorFact(kind), command);
  }
  pending.answer = await answer(run, command, verdict);
  return [next, step];
}

const operatorFact = (kind: 'confirmed' | 'refused'): FactReport => {
  const origin = { providerRequestId: null, via: 'poll' } as const;
  return kind === 'confirmed' ? { ...origin, kind } : { ...origin, kind, code: 'operator' };
};

/** What is said to the operator, and on the timeline: the outcome as it stands, not as it was meant. */
async function answer(
  { ref, attention }: Run,
  command: OperatorCommand,
  { done, message }: OperatorAnswer,
): Promise<OperatorAnswer> {
  const wanted = { complete: 'completed', fail: 'failed', retry: null, verify: null }[command.kind];
  const standing = await store.readStanding(ref);
  const missed = done && wanted !== null && standing.status !== wanted;
  const said = missed
    ? {
        done: false,
        message: `The transfer is ${standing.status}: ${standing.attention ?? 'the books say otherwise'}.`,
      }
    : { done, message };
  const force = command.force ? ' by force' : '';
  const detail = `${command.kind}${force}: ${said.message} (${command.reason})`;
  await store.noteOperator({ ...ref, actor: command.actor, detail });
  attention.know({ operator: `Last command, by ${command.actor}: ${detail}` });
  return said;
}

async function settle(run: Run, fact: FactReport, operator?: OperatorCommand): Promise<Step> {
  const { ref, input, attention } = run;
  const by = operator && { operator: { actor: operator.actor, reason: operator.reason } };
  const settled = await store.settleTransfer({ ...ref, fact, ...by });
  const closed = settled.status === 'completed' || settled.status === 'failed';
  if (closed && settled.attention === null) {
    attention.clear(settled.watched ? WATCHED : DONE);
    // A transfer that ended stays with us only as long as an operator or a watch needs it.
    if (!settled.watched) return { do: 'end' };
  }
  return { do: 'ask', afterMs: input.policy.pollMaxMs, stuck: settled.attention, closed };
}

/** Asks for the name once where acceptance could not. Silence is no reason to wait: the bank checks when it pays. */
async function isRecipientUnknown({ input, provider, ref }: Run): Promise<boolean> {
  if (input.recipientKnown) return false;
  const found = await provider.resolveRecipient(ref).catch(() => ({ kind: 'no_answer' }));
  return found.kind === 'no_such_account';
}

async function noteUnreadable({ inbox, ref, attention }: Run): Promise<void> {
  for (let problem = inbox.unreadable.shift(); problem; problem = inbox.unreadable.shift()) {
    const detail = `a message was ignored: ${problem}`;
    await store.noteOperator({ ...ref, actor: 'temporal', detail });
    attention.know({ operator: `Last command: ${detail}` });
  }
}

/** A call that did not come back says nothing about the money. */
const silence = (): CallReport => ({ kind: 'unknown', reason: 'activity_failed' });
