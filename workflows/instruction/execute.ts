import {
  allHandlersFinished,
  CancellationScope,
  condition,
  workflowInfo,
} from '@temporalio/workflow';
import type { InstructionLabels } from '../../src/core/instructions/workflow-contract.js';
import { createAttention } from './attention.js';
import { hasPendingMessages, openMessageQueue, type MessageQueue } from './operator-messages.js';
import { call, unlessCommanded } from './calls.js';
import { recordMalformed, handleOperatorCommand, applyOutcome } from './operator-commands.js';
import { pauseBlocked, unlessBlocked, untilStored } from './blocked.js';
import { workflowDetails } from './details.js';
import type { Deadline, ExecutionState, InstructionExecution } from './execution.js';
import { initialProgress } from './progress.js';

/** Pause before a deadline is tried again that the store found too early: its clock may be behind this one's. */
const CLOCK_SKEW_MS = 100;

/**
 * Executes one instruction until its outcome is known: submits it, verifies before it submits again, and applies what is
 * proven. The state is in the record, so this run may be terminated and started again at any time. A cancellation is
 * recorded and ignored, because money may be in flight.
 */
export async function executeInstruction<Own>(execution: InstructionExecution<Own>): Promise<void> {
  const messages = openMessageQueue(workflowDetails(execution.labels).descriptions);
  const recordCancellationRequest = () =>
    execution.activities.recordCancellationRequest(execution.ref);
  await despiteCancellation(recordCancellationRequest, () => execute(execution, messages));
}

/**
 * Executes the open instructions of an entity one after the other, and ends when there is none. `next` finds the open one.
 * A signal that arrives during the last `next` causes another one, so no new instruction is missed.
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
      // Every change that was signalled before this point is in the store, so `next` finds it.
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
  recordRequest: () => Promise<void>,
  run: () => Promise<void>,
): Promise<void> {
  void CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(recordRequest),
  );
  await CancellationScope.nonCancellable(run);
}

/** Refuses the waiting commands, because there is no open instruction. */
async function refuseAll(messages: MessageQueue, { record }: InstructionLabels): Promise<void> {
  const message = `There is no open ${record}.`;
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
    blockedCommits: 0,
  };
  const known = { ended: false };
  if (execution.deadline) void expireInTime(execution.deadline, state, () => known.ended);
  await runLoop(state);
  known.ended = true;
}

/** Expires the deadline. Runs beside the provider calls, so that a slow call does not delay it. */
async function expireInTime<Own>(
  deadline: Deadline,
  { messages, attention }: ExecutionState<Own>,
  ended: () => boolean,
): Promise<void> {
  const expire = () =>
    untilStored(async () => ended() || deadline.expire(), {
      attention,
      pause: (ms) => condition(ended, ms),
    });
  let leftMs = deadline.atMs - Date.now();
  while (!(await condition(ended, Math.max(1, leftMs)))) {
    if (await expire()) {
      messages.recordChanged = true;
      return;
    }
    leftMs = CLOCK_SKEW_MS;
  }
}

async function runLoop<Own>(state: ExecutionState<Own>): Promise<void> {
  const { attention, messages, details } = state;
  let progress = initialProgress();
  let step = await state.firstStep((made) => unlessCommanded(messages, made));
  for (;;) {
    await recordMalformed(state);
    const pending = messages.commands.shift();
    if (pending) {
      const [learned, next] = await handleOperatorCommand(state, pending, progress);
      progress = learned;
      step = unlessBlocked(step, next);
    } else if (step.do === 'end') break;
    else if (step.do === 'applyOutcome') {
      const { fact, afterMs = 0 } = step;
      const interrupted = afterMs > 0 && !(await pauseBlocked(state, afterMs));
      step = interrupted ? { do: step.do, fact } : await applyOutcome(state, fact);
    } else {
      // The next run loses nothing: its submission is denied a permit, and it verifies.
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
