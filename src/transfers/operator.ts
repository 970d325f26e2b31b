import type { CallReport, OperatorAnswer, OperatorCommand, Standing } from './reports.js';

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
 * Judges a command by what the bank says right now and by how the record stands. It is so already, or the bank
 * agrees: done. The bank contradicts: refused. It is undecided or silent: refused, unless a failing is forced, which
 * accepts that a payment may still show up.
 */
export function judge(
  command: OperatorCommand,
  bank: CallReport,
  { status, attention }: Standing,
): Judgement {
  const said = describe(bank);
  const settled = attention === null;
  switch (command.kind) {
    case 'verify':
      return { done: true, act: 'nothing', message: `The bank was asked: ${said}.` };
    case 'retry':
      return { done: true, act: 'one_more_try', message: `Pushed on: ${said}.` };
    case 'complete':
      return status === 'completed' && settled && command.sessionId === null
        ? { done: true, act: 'nothing', message: 'It was completed already.' }
        : judgeComplete(command, bank, said);
    case 'fail':
      return status === 'failed' && settled
        ? { done: true, act: 'nothing', message: 'It was failed already.' }
        : judgeFail(command, bank, said);
  }
}

function judgeComplete(command: OperatorCommand, bank: CallReport, said: string): Judgement {
  if (bank.kind !== 'paid') {
    return { done: false, act: 'nothing', message: `Not completed: ${said}.` };
  }
  if (command.sessionId !== null && command.sessionId !== bank.sessionId) {
    const message = `Refused: the bank has another session id. Apart from your command, ${said}.`;
    return { done: false, act: 'nothing', message };
  }
  return { done: true, act: 'confirm', message: `Completed: ${said}.` };
}

function judgeFail(command: OperatorCommand, bank: CallReport, said: string): Judgement {
  if (bank.kind === 'refused' || bank.kind === 'reversed') {
    return { done: true, act: 'nothing', message: `Failed: ${said}.` };
  }
  if (bank.kind === 'unsent') {
    return { done: true, act: 'release', message: 'Failed: the order had never left us.' };
  }
  if (bank.kind === 'paid') return { done: false, act: 'nothing', message: `Not failed: ${said}.` };
  if (command.force) {
    const message = `Failed by force although ${said}. The bank is watched on: a payment goes to suspense.`;
    return { done: true, act: 'release', message };
  }
  const message = `Not failed: ${said}. With force the hold is released all the same.`;
  return { done: false, act: 'nothing', message };
}

/** What a call at the bank came to, in words that are true of it. */
export function describe(bank: CallReport): string {
  switch (bank.kind) {
    case 'paid':
      return 'the bank says that it paid';
    case 'refused':
      return `the bank says that it did not pay (${bank.code})`;
    case 'reversed':
      return 'the bank says that it paid and took it back';
    case 'pending':
      return 'the bank says that the payment is pending';
    case 'not_found':
      return 'the bank does not know the payment, which does not rule it out';
    case 'unsent':
      return 'the order has not left us yet';
    case 'throttled':
      return 'the bank takes no orders at the moment';
    case 'unknown':
      return bank.reason === 'server_error' || bank.reason === 'unreadable'
        ? 'the bank answers with errors'
        : 'the bank does not answer';
    default:
      return 'the bank does not answer';
  }
}
