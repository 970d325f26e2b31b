import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { describeResult } from '../../src/core/instructions/operator-commands.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import type { ProviderCallResult } from '../../src/core/instructions/workflow-contract.js';
import { hasPendingMessages, type MessageQueue } from './operator-messages.js';
import { changed } from '../versions.js';
import type { ExecutionState } from './execution.js';
import { nextStep, type ExecutionProgress, type Step } from './progress.js';

/** Waits as long as the step says, then submits or verifies. A signal or an operator command ends the wait. */
export async function call<Own>(
  state: ExecutionState<Own>,
  step: Extract<Step, { do: 'submit' | 'verify' }>,
  progress: ExecutionProgress,
): Promise<[ExecutionProgress, Step]> {
  const { ref, activities, attention, messages, details } = state;
  const closed = step.do === 'verify' && step.closed === true;
  if (step.do === 'verify' && step.stuck !== null) {
    await attention.raise(step.stuck, closed ? details.whileClosed : details.whileOpen);
  }
  if (step.afterMs > 0) {
    const leftMs = closed ? Infinity : await attention.dueInMs(details.whileOpen);
    // A pause before submitting is kept in full, because the provider asked for it. Verifying may come earlier.
    const waitMs = step.do === 'submit' ? step.afterMs : Math.min(step.afterMs, leftMs);
    const ended = await pause(state, Math.max(1, waitMs));
    if (ended) return [progress, ended];
  }
  if (messages.commands.length + messages.malformed.length > 0) return [progress, step];
  // A verification would use up the operator's word. The permit is denied if the record has ended or the provider has acknowledged it.
  const isKept =
    messages.recordChanged &&
    step.do === 'submit' &&
    step.attested === true &&
    changed('attested-submission');
  const recordChanged = messages.recordChanged && !isKept;
  if (recordChanged) messages.recordChanged = false;
  const askedMs = Date.now();
  const result = await (
    step.do === 'submit' && !recordChanged
      ? submit(state, progress, step)
      : unlessClosed(state, () =>
          activities.verify({
            ...ref,
            nextPollMs: progress.pollMs,
            acknowledged: progress.acknowledged,
          }),
        )
  ).catch(unknownOutcome);
  if (result === null) {
    messages.recordChanged ||= recordChanged;
    return [progress, { ...step, afterMs: 0 }];
  }
  if (result.kind === 'permit_denied' && result.attention !== null) {
    await attention.raise(result.attention, details.whileOpen);
  }
  const answeredMs = Date.now();
  const idleMs = idleTime(result);
  if (idleMs !== null) attention.postpone(answeredMs + idleMs + state.policy.attentionAfterMs);
  // A new attempt follows. Attention belonged to the last one, and the record has cleared it.
  if (result.kind === 'not_submitted' && idleMs !== null) attention.clear('');
  if (!closed) showProviderResult(state, result, answeredMs);
  return nextStep(progress, result, state, { askedMs, answeredMs });
}

/** Time from now during which no answer is overdue; null if the provider's answer is awaited. */
function idleTime(result: ProviderCallResult): number | null {
  if (result.kind === 'not_submitted') return result.afterMs ?? null;
  return result.kind === 'pending' && result.idle === true ? 0 : null;
}

/**
 * Waits until there is a message or the time is over. For a repeatable instruction `recordChanged` ends the wait only if
 * the record is closed, because that is all that the signal can mean for it.
 */
async function pause<Own>(state: ExecutionState<Own>, ms: number): Promise<Step | null> {
  const { messages, repeatable } = state;
  const untilMs = Date.now() + ms;
  for (let leftMs = ms; leftMs > 0; leftMs = untilMs - Date.now()) {
    await condition(() => hasPendingMessages(messages), leftMs);
    if (!repeatable || !messages.recordChanged) return null;
    if (await isClosedNow(state)) return { do: 'end' };
  }
  return null;
}

/** Consumes the signal `recordChanged`, and reads whether the record is closed. */
async function isClosedNow<Own>({
  ref,
  messages,
  activities,
}: ExecutionState<Own>): Promise<boolean> {
  messages.recordChanged = false;
  return !isOpen(await activities.readInstructionStatus(ref));
}

/** Submits. The first submission of a run tries the workflow's own process; all others use the provider's task queue. */
async function submit<Own>(
  state: ExecutionState<Own>,
  { submissions }: ExecutionProgress,
  { suppressTimeline = false }: Extract<Step, { do: 'submit' }>,
): Promise<ProviderCallResult | null> {
  const { ref, rateLimitKey, activities, triedLocally } = state;
  const input = { ...ref, submissions, suppressTimeline };
  if (activities.submitLocally && !triedLocally) {
    state.triedLocally = true;
    const result = await activities.submitLocally({ ...input, rateLimitKey });
    if (result.kind !== 'not_attempted') return result;
  }
  return unlessClosed(state, () => activities.submit(input));
}

/**
 * Makes the call; null if a command has ended its wait in the queue. For a repeatable instruction it is also cancelled once
 * the record is closed: a newer instruction has taken its place and must not wait for a slow answer. The commit that closes
 * the record signals this run.
 */
async function unlessClosed<Own>(
  state: ExecutionState<Own>,
  call: () => Promise<ProviderCallResult>,
): Promise<ProviderCallResult | null> {
  const { messages } = state;
  if (!state.repeatable) return unlessCommanded(messages, call);
  const scope = new CancellationScope();
  const known = { answered: false };
  const answer = scope
    .run(() => unlessCommanded(messages, call))
    .catch(unknownOutcome)
    .finally(() => (known.answered = true));
  for (;;) {
    await condition(() => known.answered || messages.recordChanged);
    if (known.answered) return answer;
    if (!(await isClosedNow(state))) continue;
    scope.cancel();
    return { kind: 'closed', attention: null };
  }
}

/**
 * Makes a call of the provider's queue. If a command comes while the call still waits there, the call is withdrawn, and the
 * result is null. A call that has begun is awaited.
 */
export async function unlessCommanded<Result>(
  messages: MessageQueue,
  call: () => Promise<Result>,
): Promise<Result | null> {
  const scope = new CancellationScope();
  const known = { answered: false };
  const answer = scope.run(call).finally(() => (known.answered = true));
  answer.catch(() => undefined);
  const isCommanded = () => messages.commands.length + messages.malformed.length > 0;
  await condition(() => known.answered || isCommanded());
  if (!known.answered && changed('interrupted-calls')) scope.cancel();
  return answer.catch((error: unknown) => {
    if (isCancellation(error) && isCommanded()) return null;
    throw error;
  });
}

/** Shows the provider's answer in the current details. Results that come from the record alone are left out. */
export function showProviderResult<Own>(
  { attention, labels }: ExecutionState<Own>,
  result: ProviderCallResult,
  answeredMs: number,
): void {
  if (result.kind === 'closed' || result.kind === 'permit_denied') return;
  const at = new Date(answeredMs).toISOString().slice(0, 19).replace('T', ' ');
  attention.showLastKnown({
    provider: `Last known (${at} UTC): ${describeResult(result, labels)}.`,
  });
}

/** The result of a failed activity: it proves nothing about the money. */
export const unknownOutcome = (): ProviderCallResult => ({
  kind: 'unknown',
  reason: 'activity_failed',
});
