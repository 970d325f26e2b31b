import type {
  InstructionLabels,
  ProviderCallResult,
  OperatorAnswer,
  OperatorCommand,
  StatusReport,
} from './workflow-contract.js';

export const OPERATOR_COMMANDS = ['retry', 'verify', 'complete', 'fail'] as const;

/** The type of the failure by which an update says that its command was refused. */
export const REFUSED = 'Refused';

const MAX_ACTOR = 100;
const MAX_REASON = 500;

/**
 * Reads what an operator sent, from the Temporal UI, the `temporal` command or ours. Answers the problem in words
 * instead of throwing: a malformed message must never break a workflow.
 */
export function parseOperatorCommand(
  kind: OperatorCommand['kind'],
  payload: unknown,
): OperatorCommand | { problem: string } {
  const { actor, reason, session_id: sessionId = null, force = false } = toRecord(payload);
  if (!isText(actor, MAX_ACTOR)) return { problem: `${kind} needs an "actor": who does this` };
  if (!isText(reason, MAX_REASON)) return { problem: `${kind} needs a "reason": why` };
  if (sessionId !== null && !isText(sessionId, 64)) return { problem: '"session_id" must be text' };
  if (typeof force !== 'boolean') return { problem: '"force" must be true or false' };
  return { kind, actor, reason, sessionId, force };
}

const toRecord = (payload: unknown): Record<string, unknown> =>
  typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>) : {};

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= max;

/** What comes of a command: the answer to the operator, and whether the workflow acts beyond what the bank said. */
export type CommandDecision = OperatorAnswer & {
  effect: 'nothing' | 'release' | 'confirm' | 'operator_retry';
};

/**
 * Judges a command by what the provider says right now and by how the record stands. It is so already, or the provider
 * agrees: done. The provider contradicts: refused. It is undecided or silent: refused, unless a failing is forced,
 * which accepts that a payment may still show up.
 */
export function evaluateOperatorCommand(
  command: OperatorCommand,
  result: ProviderCallResult,
  { status, attention }: StatusReport,
  labels: InstructionLabels,
): CommandDecision {
  const said = describeResult(result, labels);
  const withoutAttention = attention === null;
  switch (command.kind) {
    case 'verify':
      return {
        done: true,
        effect: 'nothing',
        message: `The ${labels.provider} was asked: ${said}.`,
      };
    case 'retry':
      return { done: true, effect: 'operator_retry', message: `Pushed on: ${said}.` };
    case 'complete':
      return status === 'completed' && withoutAttention && command.sessionId === null
        ? { done: true, effect: 'nothing', message: 'It was completed already.' }
        : evaluateComplete(command, result, said, labels);
    case 'fail':
      return status === 'failed' && withoutAttention
        ? { done: true, effect: 'nothing', message: 'It was failed already.' }
        : evaluateFail(command, result, said, labels);
  }
}

function evaluateComplete(
  command: OperatorCommand,
  result: ProviderCallResult,
  said: string,
  { provider }: InstructionLabels,
): CommandDecision {
  if (result.kind !== 'succeeded') {
    return { done: false, effect: 'nothing', message: `Not completed: ${said}.` };
  }
  if (command.sessionId !== null && command.sessionId !== result.sessionId) {
    const message = `Refused: the ${provider} has another session id. Apart from your command, ${said}.`;
    return { done: false, effect: 'nothing', message };
  }
  return { done: true, effect: 'confirm', message: `Completed: ${said}.` };
}

function evaluateFail(
  command: OperatorCommand,
  result: ProviderCallResult,
  said: string,
  { provider, release, late }: InstructionLabels,
): CommandDecision {
  if (result.kind === 'rejected' || result.kind === 'reversed') {
    return { done: true, effect: 'nothing', message: `Failed: ${said}.` };
  }
  if (result.kind === 'not_submitted') {
    return { done: true, effect: 'release', message: 'Failed: the order had never left us.' };
  }
  if (result.kind === 'succeeded') {
    return { done: false, effect: 'nothing', message: `Not failed: ${said}.` };
  }
  if (command.force) {
    const consequence =
      late === null ? `With us ${release}` : `The ${provider} is watched on: ${late}`;
    const message = `Failed by force although ${said}. ${consequence}.`;
    return { done: true, effect: 'release', message };
  }
  const message = `Not failed: ${said}. With force ${release} all the same.`;
  return { done: false, effect: 'nothing', message };
}

/** What a call at the provider came to, in words that are true of it. */
export function describeResult(
  result: ProviderCallResult,
  { provider, payment, pay, paid }: InstructionLabels,
): string {
  switch (result.kind) {
    case 'succeeded':
      return `the ${provider} says that it ${paid}`;
    case 'rejected':
      return `the ${provider} says that it did not ${pay} (${result.code})`;
    case 'reversed':
      return `the ${provider} says that it ${paid} and took it back`;
    case 'pending':
      return `the ${provider} says that the ${payment} is pending`;
    case 'not_found':
      return `the ${provider} does not know the ${payment}, which does not rule it out`;
    case 'not_submitted':
      return result.afterMs ? 'the next attempt is not due yet' : 'the order has not left us yet';
    case 'mismatch':
      return `the ${provider} says something else than was ordered`;
    case 'rejected_temporarily':
      return `the ${provider} does not agree at the moment (${result.code})`;
    case 'throttled':
      return `the ${provider} takes no orders at the moment`;
    case 'unknown':
      return result.reason === 'server_error' || result.reason === 'unreadable'
        ? `the ${provider} answers with errors`
        : `the ${provider} does not answer`;
    default:
      return `the ${provider} does not answer`;
  }
}
