import { isOpen } from './instruction.js';
import type {
  InstructionLabels,
  ProviderCallResult,
  OperatorAnswer,
  OperatorCommand,
  StatusReport,
} from './workflow-contract.js';

/** Operator commands. Each is the name of a signal and of an update. */
export const OPERATOR_COMMANDS = ['retry', 'verify', 'complete', 'fail'] as const;

const MAX_ACTOR = 100;
const MAX_REASON = 500;

/**
 * Parses the payload of an operator command, sent from the Temporal UI, the `temporal` command or `bursar`. Returns a
 * problem instead of throwing, because a malformed message must never fail a workflow.
 */
export function parseOperatorCommand(
  kind: OperatorCommand['kind'],
  payload: unknown,
): OperatorCommand | { problem: string } {
  const fields = toRecord(payload);
  const { actor, reason, session_id: sessionId = null, force = false } = fields;
  const { amount_minor: amountMinor = null, attempt = null, absent = false, command } = fields;
  if (!isText(actor, MAX_ACTOR)) return { problem: `${kind} needs "actor": your name` };
  if (!isText(reason, MAX_REASON)) return { problem: `${kind} needs "reason": why you send it` };
  if (sessionId !== null && !isText(sessionId, 64))
    return { problem: '"session_id" must be a string of 1 to 64 characters' };
  if (typeof force !== 'boolean') return { problem: '"force" must be true or false' };
  if (amountMinor !== null && !(kind === 'complete' && isAmount(amountMinor)))
    return { problem: '"amount_minor" must be a whole amount in kobo, and only complete takes it' };
  if (attempt !== null && !(amountMinor !== null && isAmount(attempt)))
    return { problem: '"attempt" must be the number of an attempt, beside "amount_minor"' };
  if (typeof absent !== 'boolean' || (absent && kind !== 'retry'))
    return { problem: '"absent" must be true or false, and only retry takes it' };
  if (command !== undefined && !isText(command, 64))
    return { problem: '"command" must be the id of a stored command' };
  const amount = amountMinor === null ? {} : { amountMinor };
  const paid = attempt === null ? {} : { attempt };
  const known = command === undefined ? {} : { command };
  const stated = { ...amount, ...paid, ...known, ...(absent && { absent }) };
  return { kind, actor, reason, sessionId, force, ...stated };
}

const toRecord = (payload: unknown): Record<string, unknown> =>
  typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>) : {};

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= max;

/** True for an amount, or the number of an attempt. */
const isAmount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0;

/** The answer to a command, and its effect beyond applying the provider's answer. */
type CommandDecision = OperatorAnswer & {
  /** `capture`: as if the provider had confirmed it, which a second person must approve. */
  effect: 'nothing' | 'release' | 'confirm' | 'capture';
};

/**
 * Decides a command by the provider's answer and the record's status. `verify` and `retry` are always done: the provider
 * has been asked, and its answer decides the next step. `complete` and `fail` are done if the record already has that
 * status or the provider agrees. If the provider is undecided or silent, only a forced one is done, which a second person
 * must approve: a payment may still be proven. `unsettled`: the provider's answer was applied, and calls for an operator.
 */
export function evaluateOperatorCommand(
  command: OperatorCommand,
  result: ProviderCallResult,
  { status, attention, unsettled = false }: StatusReport & { unsettled?: boolean },
  labels: InstructionLabels,
): CommandDecision {
  const said = describeResult(result, labels);
  const withoutAttention = attention === null;
  const isBinding = command.kind === 'complete' || command.kind === 'fail';
  if (result.kind === 'closed' && isBinding && isOpen({ status })) {
    return { done: false, effect: 'nothing', message: `Not done: ${said}.` };
  }
  switch (command.kind) {
    case 'verify':
      return { done: true, effect: 'nothing', message: `Verified: ${said}.` };
    case 'retry':
      return { done: true, effect: 'nothing', message: `Retried: ${said}.` };
    case 'complete':
      return status === 'completed' &&
        withoutAttention &&
        command.sessionId === null &&
        command.amountMinor === undefined
        ? { done: true, effect: 'nothing', message: `The ${labels.record} is completed already.` }
        : evaluateComplete(
            { ...command, force: command.force && isOpen({ status }) },
            result,
            said,
            labels,
          );
    case 'fail':
      return status === 'failed' && withoutAttention
        ? { done: true, effect: 'nothing', message: `The ${labels.record} is failed already.` }
        : evaluateFail({ command, status, unsettled }, result, said, labels);
  }
}

function evaluateComplete(
  command: OperatorCommand,
  result: ProviderCallResult,
  said: string,
  { provider }: InstructionLabels,
): CommandDecision {
  if (result.kind === 'mismatch' && command.amountMinor !== undefined) {
    const accepted = command.amountMinor === result.amountMinor;
    const message = accepted
      ? `Completed with the amount that the ${provider} reports.`
      : `Refused: the ${provider} reports another amount. Its answer: ${said}.`;
    return { done: accepted, effect: accepted ? 'confirm' : 'nothing', message };
  }
  if (result.kind !== 'succeeded') {
    if (command.force && !contradicts(result)) {
      return { done: true, effect: 'capture', message: `Completed by force although ${said}.` };
    }
    return { done: false, effect: 'nothing', message: `Not completed: ${said}.` };
  }
  if (command.sessionId !== null && command.sessionId !== result.sessionId) {
    const message = `Refused: the ${provider} reports another session id than yours. Its answer: ${said}.`;
    return { done: false, effect: 'nothing', message };
  }
  if (command.amountMinor !== undefined && command.amountMinor !== result.amountMinor) {
    const reported = result.amountMinor === null ? 'no amount' : `the amount ${result.amountMinor}`;
    const message = `Refused: the ${provider} reports ${reported}. Its answer: ${said}.`;
    return { done: false, effect: 'nothing', message };
  }
  return { done: true, effect: 'confirm', message: `Completed: ${said}.` };
}

/** True if the provider says something that no operator overrules. */
const contradicts = ({ kind }: ProviderCallResult): boolean =>
  kind === 'rejected' || kind === 'reversed' || kind === 'mismatch' || kind === 'not_submitted';

type Failing = Pick<StatusReport, 'status'> & { command: OperatorCommand; unsettled: boolean };

function evaluateFail(
  failing: Failing,
  result: ProviderCallResult,
  said: string,
  labels: InstructionLabels,
): CommandDecision {
  const { command } = failing;
  const { provider, release, late } = labels;
  const contradicted = evaluateContradiction(failing, result, said, labels);
  if (contradicted) return contradicted;
  if (result.kind === 'rejected' || result.kind === 'reversed') {
    return { done: true, effect: 'nothing', message: `Failed: ${said}.` };
  }
  if (result.kind === 'not_submitted') {
    return { done: true, effect: 'release', message: 'Failed: it was never submitted.' };
  }
  if (result.kind === 'succeeded') {
    return { done: false, effect: 'nothing', message: `Not failed: ${said}.` };
  }
  if (command.force) {
    const consequence =
      late === null ? `In Bursar ${release}` : `The ${provider} is monitored: ${late}`;
    const message = `Failed by force although ${said}. ${consequence}.`;
    return { done: true, effect: 'release', message };
  }
  const message = `Not failed: ${said}. With force, ${release} anyway.`;
  return { done: false, effect: 'nothing', message };
}

/** A `fail` of a record that the provider's answer contradicts without ending it; null if there is no such contradiction. */
function evaluateContradiction(
  { command, status, unsettled }: Failing,
  { kind }: ProviderCallResult,
  said: string,
  { paid, record, returned, undone }: InstructionLabels,
): CommandDecision | null {
  const decide = (now: string, effect: string): CommandDecision =>
    command.force
      ? { done: true, effect: 'release', message: `Failed by force: ${now}. In Bursar ${effect}.` }
      : { done: false, effect: 'nothing', message: `Not failed: ${now}. With force, ${effect}.` };
  if (status === 'completed' && kind === 'rejected' && returned !== undefined) {
    return decide(`${said}, and it had reported it as ${paid}`, returned);
  }
  const isOpposed = kind === 'reversed' || (kind === 'rejected' && status === 'failed');
  return unsettled && isOpposed && undone !== undefined
    ? decide(`${said}, which does not end the ${record}`, undone)
    : null;
}

/** The answer to an attested absence. `permits`: the provider's answer leaves room for a further submission. */
export function evaluateAttestedAbsence(
  result: ProviderCallResult,
  permits: boolean,
  labels: InstructionLabels,
): OperatorAnswer {
  const said = describeResult(result, labels);
  return permits
    ? { done: true, message: `Retried: ${said}, and its absence is attested: submitted once more.` }
    : {
        done: false,
        message: `Not submitted again: ${said}. An attested absence changes nothing then.`,
      };
}

/** Describes a result for operators. */
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
      return result.afterMs ? 'the next attempt is not due yet' : 'nothing was submitted yet';
    case 'mismatch':
      return `the ${provider} reports something else than was requested`;
    case 'rejected_temporarily':
      return `the ${provider} rejects it for now (${result.code})`;
    case 'refused':
      return `the ${provider} refused the last request (${result.code}), and an earlier one may have been executed`;
    case 'unsent':
      return 'it could not be submitted yet';
    case 'closed':
      return 'another workflow carries out the present instruction of this record';
    case 'throttled':
      return `the ${provider} accepts no requests for now`;
    case 'unknown':
      return result.reason === 'server_error' || result.reason === 'unreadable'
        ? `the ${provider} answers with errors`
        : `the ${provider} does not answer`;
    default:
      return `the ${provider} does not answer`;
  }
}
