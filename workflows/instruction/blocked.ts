import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  condition,
  sleep,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { isOpen } from '../../src/core/instructions/instruction.js';
import type {
  ApplyOutcomeResult,
  FactResult,
  OperatorMessage,
} from '../../src/core/instructions/workflow-contract.js';
import { BLOCKED_PAUSE_MS } from '../policies.js';
import { createAttention, type Attention } from './attention.js';
import { hasPendingMessages } from './operator-messages.js';
import type { ExecutionState } from './execution.js';
import type { Step } from './progress.js';

/** The reason of attention while a write is blocked. */
export const BLOCKED = 'our own store refuses its outcome, which is not lost and is tried again';

const WHAT_TO_DO =
  'The log of the worker says why (`activity failed`). Remove the cause; **verify** tries again at once.';

/** Pause after this many series of attempts in a row have failed. */
export const blockedPauseMs = (failures: number): number =>
  Math.min(BLOCKED_PAUSE_MS.first * 2 ** (failures - 1), BLOCKED_PAUSE_MS.longest);

/**
 * Commits an outcome. Returns null if the store refuses it in a whole series of attempts: attention is raised, and
 * `blockedStep` is the step that tries again.
 */
export async function commitOutcome<Own>(
  state: ExecutionState<Own>,
  fact: FactResult<Own>,
  operator?: OperatorMessage,
): Promise<ApplyOutcomeResult | null> {
  const { ref, policy, activities, attention } = state;
  try {
    const result = await activities.applyOutcome({
      ...ref,
      fact,
      ...(operator && { operator }),
      nextPollMs: policy.pollMaxMs,
    });
    if (state.blockedCommits > 0 && isOpen(result) && result.attention === null) {
      attention.clear('');
    }
    state.blockedCommits = 0;
    return result;
  } catch (error) {
    if (isFinalFailure(error)) throw error;
    state.blockedCommits += 1;
    await attention.raise(BLOCKED, WHAT_TO_DO);
    return null;
  }
}

/** The step after a refused commit. */
export const blockedStep = <Own>(
  { blockedCommits }: ExecutionState<Own>,
  fact: FactResult<Own>,
): Step<Own> => ({ do: 'applyOutcome', fact, afterMs: blockedPauseMs(blockedCommits) });

/**
 * Waits before a refused commit is tried again. Returns false if the run must handle messages first. A long wait continues
 * as a new run, which asks the provider for the outcome again.
 */
export async function pauseBlocked<Own>(
  state: ExecutionState<Own>,
  afterMs: number,
): Promise<boolean> {
  const { messages } = state;
  if (workflowInfo().continueAsNewSuggested && !hasPendingMessages(messages)) {
    await state.continueAsNew();
  }
  await condition(() => hasPendingMessages(messages), afterMs);
  messages.recordChanged = false;
  return !hasPendingMessages(messages);
}

/** The step after a command: a refused commit is not forgotten, unless the command has ended the record. */
export const unlessBlocked = <Own>(before: Step<Own>, next: Step<Own>): Step<Own> =>
  before.do === 'applyOutcome' &&
  (next.do === 'submit' || (next.do === 'verify' && next.closed !== true))
    ? before
    : next;

/**
 * Repeats a write of a run that commits no instruction's outcome until the store accepts it. Attention is raised in the
 * run's search attribute, because the record may be the reason.
 */
export async function untilStored<Result>(
  write: () => Promise<Result>,
  {
    attention = attributeOnly(),
    pause = sleep,
  }: { attention?: Attention; pause?: (ms: number) => Promise<unknown> } = {},
): Promise<Result> {
  for (let failures = 1; ; failures += 1) {
    try {
      const result = await write();
      if (failures > 1) attention.clear('');
      return result;
    } catch (error) {
      if (isFinalFailure(error)) throw error;
      await attention.raise(BLOCKED, WHAT_TO_DO);
      await pause(blockedPauseMs(failures));
    }
  }
}

/** Attention in the search attribute and the current details alone. */
export const attributeOnly = (): Attention =>
  createAttention({ dueAtMs: Infinity, provider: '', record: async () => undefined });

/** True if another attempt cannot succeed, for example because there is no such record. */
function isFinalFailure(error: unknown): boolean {
  if (!(error instanceof TemporalFailure) || error instanceof CancelledFailure) return true;
  // The failure of a local activity is the activity's own; that of another activity is its cause.
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure && failure.nonRetryable === true;
}
