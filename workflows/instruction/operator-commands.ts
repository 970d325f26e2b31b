import { evaluateOperatorCommand } from '../../src/core/instructions/operator-commands.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import type {
  FactResult,
  OperatorAnswer,
  OperatorCommand,
} from '../../src/core/instructions/workflow-contract.js';
import type { PendingCommand } from './operator-messages.js';
import { unknownOutcome, showProviderResult } from './calls.js';
import type { ExecutionState } from './execution.js';
import { nextStep, allowOperatorRetry, type ExecutionProgress, type Step } from './progress.js';

/** Executes an operator's command as far as the provider agrees, and answers it. It always verifies first. */
export async function handleOperatorCommand<Own>(
  state: ExecutionState<Own>,
  pending: PendingCommand,
  before: ExecutionProgress,
): Promise<[ExecutionProgress, Step]> {
  const { ref, activities, labels } = state;
  const { command } = pending;
  const progress = command.kind === 'retry' ? allowOperatorRetry(before) : before;
  const status = await activities.readInstructionStatus(ref);
  const askedMs = Date.now();
  const result = await activities
    .verify({ ...ref, nextPollMs: progress.pollMs, evenIfClosed: true })
    .catch(unknownOutcome);
  const asked = { askedMs, answeredMs: Date.now() };
  const [next, first] = nextStep(progress, result, state, asked);
  showProviderResult(state, result, asked.answeredMs);
  const decision = evaluateOperatorCommand(command, result, status, labels);
  let step = first;
  if (step.do === 'applyOutcome') step = await applyOutcome(state, step.fact);
  if (decision.effect === 'confirm' || decision.effect === 'release') {
    const kind = decision.effect === 'confirm' ? 'operator_confirmed' : 'rejected';
    step = await applyOutcome(state, operatorFact(kind, command), command);
  }
  pending.answer = await answer(state, command, decision);
  return [next, step];
}

/** The fact of a command. Unless forced, a `fail` counts only if nothing was submitted; its commit checks that again. */
const operatorFact = (
  kind: 'operator_confirmed' | 'rejected',
  { force }: OperatorCommand,
): FactResult => {
  const source = { providerRequestId: null, via: 'poll' } as const;
  if (kind === 'operator_confirmed') return { ...source, kind };
  return { ...source, kind, code: 'operator', ...(!force && { ifNotSubmitted: true }) };
};

/** Answers the operator and writes the timeline, from the record's status after the command. */
async function answer<Own>(
  { ref, activities, labels, attention }: ExecutionState<Own>,
  command: OperatorCommand,
  { done, message }: OperatorAnswer,
): Promise<OperatorAnswer> {
  const expectedStatus = { complete: 'completed', fail: 'failed', retry: null, verify: null }[
    command.kind
  ];
  const status = await activities.readInstructionStatus(ref);
  const missed = done && expectedStatus !== null && status.status !== expectedStatus;
  const why = status.attention ?? 'the command did not change it';
  const outcome = missed
    ? { done: false, message: `The ${labels.record} is ${status.status}: ${why}.` }
    : { done, message };
  const force = command.force ? ' by force' : '';
  const detail = `${command.kind}${force}: ${outcome.message} (${command.reason})`;
  await activities.recordOperatorCommand({ ...ref, actor: command.actor, detail });
  attention.showLastKnown({ operator: `Last command, by ${command.actor}: ${detail}` });
  return outcome;
}

/** Applies a fact, by the provider or by an operator, and returns the run's next step. */
export async function applyOutcome<Own>(
  { ref, policy, activities, attention, details }: ExecutionState<Own>,
  fact: FactResult<Own>,
  operator?: OperatorCommand,
): Promise<Step> {
  const by = operator && { operator: { actor: operator.actor, reason: operator.reason } };
  const result = await activities.applyOutcome({ ...ref, fact, ...by });
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
