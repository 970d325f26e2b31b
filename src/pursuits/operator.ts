import type { CallReport, OperatorAnswer, OperatorCommand, Standing } from './reports.js';
import type { Words } from './words.js';

export const OPERATOR_KINDS = ['retry', 'verify', 'complete', 'fail'] as const;

/** The type of the failure by which an update says that its command was refused. */
export const REFUSED = 'Refused';

const MAX_ACTOR = 100;
const MAX_REASON = 500;

/**
 * Reads what an operator sent, from the Temporal UI, the `temporal` command or ours. Answers the problem in words
 * instead of throwing: a malformed message must never break a workflow.
 */
export function readCommand(
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
export type Judgement = OperatorAnswer & {
  act: 'nothing' | 'release' | 'confirm' | 'one_more_try';
};

/**
 * Judges a command by what the provider says right now and by how the record stands. It is so already, or the provider
 * agrees: done. The provider contradicts: refused. It is undecided or silent: refused, unless a failing is forced,
 * which accepts that a payment may still show up.
 */
export function judge(
  command: OperatorCommand,
  report: CallReport,
  { status, attention }: Standing,
  words: Words,
): Judgement {
  const said = describe(report, words);
  const settled = attention === null;
  switch (command.kind) {
    case 'verify':
      return {
        done: true,
        act: 'nothing',
        message: `The ${words.provider} was asked: ${said}.`,
      };
    case 'retry':
      return { done: true, act: 'one_more_try', message: `Pushed on: ${said}.` };
    case 'complete':
      return status === 'completed' && settled && command.sessionId === null
        ? { done: true, act: 'nothing', message: 'It was completed already.' }
        : judgeComplete(command, report, said, words);
    case 'fail':
      return status === 'failed' && settled
        ? { done: true, act: 'nothing', message: 'It was failed already.' }
        : judgeFail(command, report, said, words);
  }
}

function judgeComplete(
  command: OperatorCommand,
  report: CallReport,
  said: string,
  { provider }: Words,
): Judgement {
  if (report.kind !== 'paid') {
    return { done: false, act: 'nothing', message: `Not completed: ${said}.` };
  }
  if (command.sessionId !== null && command.sessionId !== report.sessionId) {
    const message = `Refused: the ${provider} has another session id. Apart from your command, ${said}.`;
    return { done: false, act: 'nothing', message };
  }
  return { done: true, act: 'confirm', message: `Completed: ${said}.` };
}

function judgeFail(
  command: OperatorCommand,
  report: CallReport,
  said: string,
  { provider, release, late }: Words,
): Judgement {
  if (report.kind === 'refused' || report.kind === 'reversed') {
    return { done: true, act: 'nothing', message: `Failed: ${said}.` };
  }
  if (report.kind === 'unsent') {
    return { done: true, act: 'release', message: 'Failed: the order had never left us.' };
  }
  if (report.kind === 'paid') {
    return { done: false, act: 'nothing', message: `Not failed: ${said}.` };
  }
  if (command.force) {
    const watched = late === null ? `With us ${release}` : `The ${provider} is watched on: ${late}`;
    const message = `Failed by force although ${said}. ${watched}.`;
    return { done: true, act: 'release', message };
  }
  const message = `Not failed: ${said}. With force ${release} all the same.`;
  return { done: false, act: 'nothing', message };
}

/** What a call at the provider came to, in words that are true of it. */
export function describe(report: CallReport, { provider, payment, pay, paid }: Words): string {
  switch (report.kind) {
    case 'paid':
      return `the ${provider} says that it ${paid}`;
    case 'refused':
      return `the ${provider} says that it did not ${pay} (${report.code})`;
    case 'reversed':
      return `the ${provider} says that it ${paid} and took it back`;
    case 'pending':
      return `the ${provider} says that the ${payment} is pending`;
    case 'not_found':
      return `the ${provider} does not know the ${payment}, which does not rule it out`;
    case 'unsent':
      return report.afterMs ? 'the next attempt is not due yet' : 'the order has not left us yet';
    case 'disputed':
      return `the ${provider} says something else than was ordered`;
    case 'refused_for_now':
      return `the ${provider} does not agree at the moment (${report.code})`;
    case 'throttled':
      return `the ${provider} takes no orders at the moment`;
    case 'unknown':
      return report.reason === 'server_error' || report.reason === 'unreadable'
        ? `the ${provider} answers with errors`
        : `the ${provider} does not answer`;
    default:
      return `the ${provider} does not answer`;
  }
}
