import {
  describeResult,
  evaluateAttestedAbsence,
  evaluateOperatorCommand,
} from '../../src/core/instructions/operator-commands.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import type {
  AttestationResult,
  FactResult,
  InstructionLabels,
  OperatorAnswer,
  OperatorCommand,
  OperatorMessage,
  ProviderCallResult,
  StatusReport,
} from '../../src/core/instructions/workflow-contract.js';
import type { PendingCommand } from './operator-messages.js';
import { unknownOutcome, showProviderResult } from './calls.js';
import { changed } from '../versions.js';
import { BLOCKED, blockedStep, commitOutcome } from './blocked.js';
import type { ExecutionState } from './execution.js';
import { nextStep, allowOperatorRetry, type ExecutionProgress, type Step } from './progress.js';

/** Executes an operator's command as far as the provider agrees, and answers it. It always verifies first. */
export async function handleOperatorCommand<Own>(
  state: ExecutionState<Own>,
  pending: PendingCommand,
  before: ExecutionProgress,
): Promise<[ExecutionProgress, Step<Own>]> {
  const { ref, activities, labels } = state;
  const { command } = pending;
  const progress = command.kind === 'retry' ? allowOperatorRetry(before, state.policy) : before;
  const attempt = labels.hasAttempts ? command.attempt : undefined;
  const status = await activities.readInstructionStatus(ref);
  const askedMs = Date.now();
  const result = await activities
    .verify({
      ...ref,
      nextPollMs: progress.pollMs,
      acknowledged: progress.acknowledged,
      evenIfClosed: true,
      ...(attempt !== undefined && { attempt }),
    })
    .catch(unknownOutcome);
  const asked = { askedMs, answeredMs: Date.now() };
  showProviderResult(state, result, asked.answeredMs);
  const evidence = describeResult(result, labels);
  const decide = (absenceAttested: boolean): [ExecutionProgress, Step] =>
    attempt === undefined
      ? nextStep({ ...progress, absenceAttested }, result, state, asked)
      : [progress, ASK_ABOUT_PRESENT];
  const attests =
    command.absent === true && (await mayAttest(state, { pending, evidence }, decide));
  const [learned, first] = decide(attests);
  const next = { ...learned, absenceAttested: false };
  let step: Step<Own> = attests && first.do === 'submit' ? { ...first, attested: true } : first;
  if (step.do === 'applyOutcome') step = await applyOutcome(state, step.fact);
  // The attention that is left after the provider's own answer.
  const unsettled = first.do === 'applyOutcome' ? stuckBy(step) : status.attention;
  const known = { ...status, unsettled: unsettled !== null };
  const decision = evaluateOperatorCommand(command, result, known, labels);
  if (decision.effect !== 'nothing' && isFollowed(decision.effect, result.kind)) {
    const fact = operatorFact(decision.effect, command, { result, status });
    step = await applyOutcome(state, fact, { pending, evidence }, step);
  }
  const attested = evaluateAttestedAbsence(result, first.do === 'submit', labels);
  const decided = command.absent === true ? attested : decision;
  const isMissed = (after: StatusReport) =>
    after.attention !== null &&
    after.attention === unsettled &&
    mustSettle(command, result, labels);
  pending.answer = await answer(state, { pending, evidence }, decided, isMissed);
  return [next, step];
}

/** The answer was about an attempt that a command has named: the present one is asked about next. */
const ASK_ABOUT_PRESENT = { do: 'verify', afterMs: 0, stuck: null } as const;

const stuckBy = (step: Step<unknown>): string | null => (step.do === 'verify' ? step.stuck : null);

/** True unless the run started before such a command had an effect. */
function isFollowed(effect: string, kind: ProviderCallResult['kind']): boolean {
  if (effect !== 'release') return true;
  if (kind === 'rejected') return changed('failed-after-success');
  return kind !== 'reversed' || changed('failed-after-reversal');
}

/** True for a command that is not done as long as the record still has the attention of the provider's answer. */
const mustSettle = (
  { kind, amountMinor }: OperatorCommand,
  result: ProviderCallResult,
  { undone }: InstructionLabels,
): boolean =>
  undone !== undefined ||
  (kind === 'complete' && amountMinor !== undefined && result.kind === 'succeeded');

const BLOCKED_APPROVAL = 'our own store does not say whether another person has approved it';

/**
 * True if the operator's word counts that nothing will be executed. If a submission depends on it, another person must have
 * approved it.
 */
async function mayAttest<Own>(
  { ref, activities }: ExecutionState<Own>,
  handled: Handled,
  decide: (absenceAttested: boolean) => [ExecutionProgress, Step],
): Promise<boolean> {
  const matters = decide(true)[1].do === 'submit' && decide(false)[1].do !== 'submit';
  if (!matters || !changed('approved-absence')) return true;
  const answered = await activities
    .attestAbsence({ ...ref, operator: toMessage(handled) })
    .catch((): AttestationResult => ({ refused: BLOCKED_APPROVAL }));
  const waits = (answered.approval ?? answered.refused) !== undefined;
  if (waits) handled.pending.refusal = answered;
  return !waits;
}

/**
 * The fact of a command. Unless forced, a `fail` counts only if nothing was submitted; its commit checks that again. The same holds
 * for a forced one if the record has ended, unless the provider denies the payment when this command asks it.
 */
const operatorFact = (
  effect: 'confirm' | 'release' | 'capture',
  { force, amountMinor, attempt, sessionId }: OperatorCommand,
  { result, status }: { result: ProviderCallResult; status: StatusReport },
): FactResult => {
  const source = { providerRequestId: null, via: 'poll' } as const;
  const of = attempt === undefined ? {} : { attempt };
  switch (effect) {
    case 'confirm': {
      const proven = result.kind === 'succeeded' ? result.sessionId : null;
      const accepted = amountMinor !== undefined && { ...of, amountMinor, sessionId: proven };
      return { ...source, kind: 'operator_confirmed', ...accepted };
    }
    case 'capture':
      return amountMinor === undefined
        ? { ...source, kind: 'succeeded', amountMinor: null, sessionId }
        : { ...source, ...of, kind: 'operator_confirmed', amountMinor, sessionId, unproven: true };
    case 'release':
      return {
        ...source,
        kind: 'rejected',
        code: 'operator',
        ...(!(force && (isOpen(status) || isDenial(result))) && { ifNotSubmitted: true }),
      };
  }
};

const isDenial = ({ kind }: ProviderCallResult): boolean =>
  kind === 'rejected' || kind === 'reversed';

/** Answers the operator and writes the timeline, from the record's status after the command. */
async function answer<Own>(
  { ref, activities, labels, attention, blockedCommits }: ExecutionState<Own>,
  { pending, evidence }: Handled,
  { done, message }: OperatorAnswer,
  isMissed: (after: StatusReport) => boolean,
): Promise<OperatorAnswer> {
  const { command } = pending;
  const expectedStatus = { complete: 'completed', fail: 'failed', retry: null, verify: null }[
    command.kind
  ];
  const status = await activities.readInstructionStatus(ref);
  const missed =
    done && expectedStatus !== null && (status.status !== expectedStatus || isMissed(status));
  const why = status.attention ?? 'the command did not change it';
  const refused = refusalOf({ pending, evidence });
  const outcome =
    refused ??
    (missed
      ? { done: false, message: `The ${labels.record} is ${status.status}: ${why}.` }
      : { done, message: blockedCommits > 0 ? `${message} But ${BLOCKED}.` : message });
  const force = command.force ? ' by force' : '';
  const absent = command.absent ? ' with attested absence' : '';
  const detail = `${command.kind}${force}${absent}: ${outcome.message}`;
  const operator = toMessage({ pending, evidence });
  await activities.recordOperatorCommand({ ...ref, actor: 'operator', detail, operator });
  const by = command.command === undefined ? `who says to be ${command.actor}` : command.actor;
  attention.showLastKnown({ operator: `Last command, by ${by}: ${detail} (${command.reason})` });
  return outcome;
}

/** The answer to a command that a second person must approve, or whose approval does not permit it; null otherwise. */
function refusalOf({ pending: { command, refusal }, evidence }: Handled): OperatorAnswer | null {
  if (refusal?.approval !== undefined) {
    const { approval } = refusal;
    const message =
      `Not done yet: ${evidence}. A second person decides: ` +
      `bursar approvals approve ${approval} (or reject).`;
    return { done: false, message, approval };
  }
  if (refusal?.refused === undefined) return null;
  return { done: false, message: `Not done (${command.kind}): ${refusal.refused}.` };
}

/** A command that is handled, and the provider's answer in words. */
type Handled = { pending: PendingCommand; evidence: string };

const toMessage = ({ pending: { id, command }, evidence }: Handled): OperatorMessage => ({
  id,
  ...(command.command !== undefined && { command: command.command }),
  kind: command.kind,
  actor: command.actor,
  reason: command.reason,
  sessionId: command.sessionId,
  ...(command.amountMinor !== undefined && { amountMinor: command.amountMinor }),
  ...(command.attempt !== undefined && { attempt: command.attempt }),
  ...(command.absent && { absent: true }),
  force: command.force,
  evidence,
});

/**
 * Applies a fact, by the provider or by an operator, and returns the run's next step. If the store refuses it, a fact of
 * the provider is tried again; one of an operator is left to the operator, and `before` remains the next step.
 */
export async function applyOutcome<Own>(
  state: ExecutionState<Own>,
  fact: FactResult<Own>,
  handled?: Handled,
  before?: Step<Own>,
): Promise<Step<Own>> {
  const { policy, attention, details } = state;
  const result = await commitOutcome(state, fact, handled && toMessage(handled));
  if (!result) return before ?? blockedStep(state, fact);
  if (handled && before && (result.approval ?? result.refused) !== undefined) {
    handled.pending.refusal = result;
    return before;
  }
  const closed = !isOpen(result);
  if (closed && result.attention === null) {
    attention.clear(result.monitored ? details.whileMonitored : details.done);
    // Only attention or monitoring keeps the run of a closed record.
    if (!result.monitored) return { do: 'end' };
  }
  return { do: 'verify', afterMs: policy.pollMaxMs, stuck: result.attention, closed };
}

/** Writes every malformed message to the timeline, because a signal has no answer that could refuse it. */
export async function recordMalformed<Own>({
  ref,
  activities,
  messages,
  attention,
}: ExecutionState<Own>): Promise<void> {
  for (let problem = messages.malformed.shift(); problem; problem = messages.malformed.shift()) {
    const detail = `a message was ignored: ${problem}`;
    await activities.recordOperatorCommand({ ...ref, actor: 'temporal', detail });
    attention.showLastKnown({ operator: `Last command: ${detail}` });
  }
}
