import { CancellationScope, condition } from '@temporalio/workflow';
import { describeResult } from '../../src/core/instructions/operator-commands.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import type { ProviderCallResult } from '../../src/core/instructions/workflow-contract.js';
import { hasPendingMessages } from './operator-messages.js';
import type { ExecutionState } from './execution.js';
import { nextStep, type ExecutionProgress, type Step } from './progress.js';

/** Waits as the step says, then lets the order out or asks; a waker or an operator ends the wait. */
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
    // A pause that the provider asked for is kept; a question may come earlier.
    const waitMs = step.do === 'submit' ? step.afterMs : Math.min(step.afterMs, leftMs);
    const ended = await pause(state, Math.max(1, waitMs));
    if (ended) return [progress, ended];
  }
  if (messages.commands.length + messages.malformed.length > 0) return [progress, step];
  const recordChanged = messages.recordChanged;
  messages.recordChanged = false;
  const askedMs = Date.now();
  const result = await (
    step.do === 'submit' && !recordChanged
      ? submit(state, progress, step)
      : unlessEnded(state, () => activities.verify({ ...ref, nextPollMs: progress.pollMs }))
  ).catch(unknownOutcome);
  if (result.kind === 'permit_denied' && result.attention !== null) {
    await attention.raise(result.attention, details.whileOpen);
  }
  const answeredMs = Date.now();
  const idleMs = idleTime(result);
  if (idleMs !== null) attention.postpone(answeredMs + idleMs + state.policy.attentionAfterMs);
  // A new attempt: what was called for was the one before, and the record says so no more.
  if (result.kind === 'not_submitted' && idleMs !== null) attention.clear('');
  if (!closed) showProviderResult(state, result, answeredMs);
  return nextStep(progress, result, state, { askedMs, answeredMs });
}

/** For how long from now nobody is late, because it is not the provider's turn; null where it is. */
function idleTime(result: ProviderCallResult): number | null {
  if (result.kind === 'not_submitted') return result.afterMs ?? null;
  return result.kind === 'pending' && result.idle === true ? 0 : null;
}

/**
 * A pause, until there is mail. Where the order may be repeated a waker does not shorten it: only a record that has
 * ended does, and then that is all there is to know.
 */
async function pause<Own>(run: ExecutionState<Own>, ms: number): Promise<Step | null> {
  const { messages, repeatable } = run;
  const untilMs = Date.now() + ms;
  for (let leftMs = ms; leftMs > 0; leftMs = untilMs - Date.now()) {
    await condition(() => hasPendingMessages(messages), leftMs);
    if (!repeatable || !messages.recordChanged) return null;
    if (await hasEndedMeanwhile(run)) return { do: 'end' };
  }
  return null;
}

/** What a waker came to say, where that can only be that the record has ended. */
async function hasEndedMeanwhile<Own>({
  ref,
  messages,
  activities,
}: ExecutionState<Own>): Promise<boolean> {
  messages.recordChanged = false;
  return !isOpen(await activities.readInstructionStatus(ref));
}

/** The first order of a run goes out from here where it may; all others, and what may not, by the provider's queue. */
async function submit<Own>(
  state: ExecutionState<Own>,
  { submissions }: ExecutionProgress,
  { suppressTimeline = false }: Extract<Step, { do: 'submit' }>,
): Promise<ProviderCallResult> {
  const { ref, rateLimitKey, activities, triedLocally } = state;
  const input = { ...ref, submissions, suppressTimeline };
  if (activities.submitLocally && !triedLocally) {
    state.triedLocally = true;
    const result = await activities.submitLocally({ ...input, rateLimitKey });
    if (result.kind !== 'not_attempted') return result;
  }
  return unlessEnded(state, () => activities.submit(input));
}

/**
 * Lets go of a call whose record has ended meanwhile, where the order may be repeated: a slow answer to an order that
 * counts no more must not hold back the one that does. Whoever ends it wakes us.
 */
async function unlessEnded<Own>(
  run: ExecutionState<Own>,
  call: () => Promise<ProviderCallResult>,
): Promise<ProviderCallResult> {
  if (!run.repeatable) return call();
  const scope = new CancellationScope();
  const known = { answered: false };
  const answer = scope
    .run(call)
    .catch(unknownOutcome)
    .finally(() => (known.answered = true));
  for (;;) {
    await condition(() => known.answered || run.messages.recordChanged);
    if (known.answered) return answer;
    if (!(await hasEndedMeanwhile(run))) continue;
    scope.cancel();
    return { kind: 'closed', attention: null };
  }
}

/** The provider's last word, for the page. What the record alone said is no word of the provider. */
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

/** A call that did not come back says nothing about the money. */
export const unknownOutcome = (): ProviderCallResult => ({
  kind: 'unknown',
  reason: 'activity_failed',
});
