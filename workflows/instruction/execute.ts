import {
  allHandlersFinished,
  CancellationScope,
  condition,
  workflowInfo,
} from '@temporalio/workflow';
import type { InstructionLabels } from '../../src/core/instructions/labels.js';
import { createAttention } from './attention.js';
import { hasPendingMessages, openMessageQueue, type MessageQueue } from './operator-messages.js';
import { call } from './calls.js';
import { recordMalformed, handleOperatorCommand, applyOutcome } from './operator-commands.js';
import { workflowDetails } from './details.js';
import type { Deadline, ExecutionState, InstructionExecution } from './execution.js';
import { initialProgress } from './progress.js';

/** The clock that woke us and that of the store may differ a little. */
const CLOCKS_DIFFER_MS = 100;

/**
 * Keeps one accepted record: lets the order out once, asks before it lets it out again, and settles what is proven.
 * The record decides; this run drives, and may be ended and started again at any moment. A cancellation is noted and
 * changes nothing: the money may be on its way.
 */
export async function executeInstruction<Own>(execution: InstructionExecution<Own>): Promise<void> {
  const messages = openMessageQueue(workflowDetails(execution.labels).descriptions);
  const recordCancellationRequest = () =>
    execution.activities.recordCancellationRequest(execution.ref);
  await despiteCancellation(recordCancellationRequest, () => execute(execution, messages));
}

/**
 * Keeps what an entity has open, one record after the other, and ends when it has none. Who changes which that is
 * wakes this run, or starts one: a signal that comes while the last look is taken brings another look.
 */
export async function executeInSequence<Own>(
  labels: InstructionLabels,
  next: () => Promise<InstructionExecution<Own> | null>,
): Promise<void> {
  const messages = openMessageQueue(workflowDetails(labels).descriptions);
  let execution: InstructionExecution<Own> | null = null;
  const recordCancellationRequest = async () =>
    execution?.activities.recordCancellationRequest(execution.ref);
  await despiteCancellation(recordCancellationRequest, async () => {
    for (;;) {
      // What anybody has woken us for so far is in the store, and is seen by this look.
      messages.recordChanged = false;
      execution = await next();
      if (!execution) {
        await refuseAll(messages, labels);
        if (!hasPendingMessages(messages)) return;
        continue;
      }
      await execute(execution, messages);
      const { continueAsNewSuggested } = workflowInfo();
      if (continueAsNewSuggested && messages.commands.length === 0) await execution.continueAsNew();
    }
  });
}

async function despiteCancellation(
  note: () => Promise<void>,
  keep: () => Promise<void>,
): Promise<void> {
  void CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(note),
  );
  await CancellationScope.nonCancellable(keep);
}

/** Answers commands that find nothing under way. */
async function refuseAll(messages: MessageQueue, { record }: InstructionLabels): Promise<void> {
  const message = `No ${record} is under way.`;
  for (const pending of messages.commands.splice(0)) pending.answer = { done: false, message };
  messages.malformed.length = 0;
  await condition(allHandlersFinished);
}

async function execute<Own>(
  execution: InstructionExecution<Own>,
  messages: MessageQueue,
): Promise<void> {
  const { ref, policy, labels, activities } = execution;
  const details = workflowDetails(labels);
  const attention = createAttention({
    dueAtMs: execution.acceptedAtMs + policy.attentionAfterMs,
    provider: labels.provider,
    record: (reason) => activities.raiseAttention({ ...ref, reason }),
  });
  const state: ExecutionState<Own> = {
    ...execution,
    attention,
    messages,
    details,
    triedLocally: false,
  };
  const known = { ended: false };
  if (execution.deadline) void expireInTime(execution.deadline, messages, () => known.ended);
  await runLoop(state);
  known.ended = true;
}

/** Beside the calls: one that is slow does not keep the deadline waiting. */
async function expireInTime(
  deadline: Deadline,
  messages: MessageQueue,
  ended: () => boolean,
): Promise<void> {
  let leftMs = deadline.atMs - Date.now();
  while (!(await condition(ended, Math.max(1, leftMs)))) {
    if (await deadline.expire()) {
      messages.recordChanged = true;
      return;
    }
    leftMs = CLOCKS_DIFFER_MS;
  }
}

async function runLoop<Own>(state: ExecutionState<Own>): Promise<void> {
  const { attention, messages, details } = state;
  let progress = initialProgress();
  let step = await state.firstStep();
  for (;;) {
    await recordMalformed(state);
    const pending = messages.commands.shift();
    if (pending) [progress, step] = await handleOperatorCommand(state, pending, progress);
    else if (step.do === 'end') break;
    else if (step.do === 'applyOutcome') step = await applyOutcome(state, step.fact);
    else {
      // Nothing is lost by it: the next run asks before it does anything.
      if (workflowInfo().continueAsNewSuggested) {
        await condition(allHandlersFinished);
        if (!hasPendingMessages(messages)) await state.continueAsNew();
      }
      [progress, step] = await call(state, step, progress);
    }
  }
  attention.clear(details.done);
  await condition(allHandlersFinished);
}
