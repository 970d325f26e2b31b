import { REFUSED } from '../../src/platform/temporal/failure-types.js';
import {
  ApplicationFailure,
  condition,
  defineSignal,
  defineUpdate,
  setHandler,
  uuid4,
} from '@temporalio/workflow';
import {
  OPERATOR_COMMANDS,
  parseOperatorCommand,
} from '../../src/core/instructions/operator-commands.js';
import type {
  ApplyOutcomeResult,
  OperatorAnswer,
  OperatorCommand,
} from '../../src/core/instructions/workflow-contract.js';
import { UNDECODABLE } from '../payload-converter.js';
import type { WorkflowDetails } from './details.js';

/** Signal that the record may have changed. It has no payload, because facts are in the store. */
export const recordChangedSignal = defineSignal('recordChanged');

/** A command and its answer, which is null until the run has handled it. */
export type PendingCommand = {
  /** Names this message. */
  id: string;
  command: OperatorCommand;
  answer: OperatorAnswer | null;
  /** The commit's answer, if it did not apply the command. */
  refusal?: Pick<ApplyOutcomeResult, 'approval' | 'refused'>;
};
/** Messages that the run has not handled yet. */
export type MessageQueue = {
  recordChanged: boolean;
  commands: PendingCommand[];
  /** Problems of messages that could not be read. */
  malformed: string[];
};

/**
 * Registers the handlers of signals and updates. They only enqueue; the run's loop acts. Each command is a signal, which
 * can be sent to many workflows at once, and an update of the same name, which is validated and answered. A refused
 * update fails, because the UI shows every update that returns as successful.
 */
export function openMessageQueue(descriptions: WorkflowDetails['descriptions']): MessageQueue {
  const messages: MessageQueue = { recordChanged: false, commands: [], malformed: [] };
  setHandler(recordChangedSignal, () => void (messages.recordChanged = true), {
    description: 'Reads the record now, because it may have changed.',
  });
  for (const kind of OPERATOR_COMMANDS) {
    const description = descriptions[kind];
    setHandler(
      defineSignal<[unknown]>(kind),
      (payload) => {
        const command = read(kind, payload);
        if ('problem' in command) messages.malformed.push(command.problem);
        else messages.commands.push({ id: uuid4(), command, answer: null });
      },
      { description },
    );
    setHandler(
      defineUpdate<OperatorAnswer, [unknown]>(kind),
      async (payload) => {
        const command = read(kind, payload);
        if ('problem' in command) throw refusal(command.problem);
        const pending: PendingCommand = { id: uuid4(), command, answer: null };
        messages.commands.push(pending);
        await condition(() => pending.answer !== null);
        const answer = pending.answer as unknown as OperatorAnswer;
        if (!answer.done) throw refusal(answer.message, answer.approval);
        return answer;
      },
      { description, validator: (payload) => refuseMalformed(kind, payload) },
    );
  }
  return messages;
}

/** True if a message waits to be handled. */
export const hasPendingMessages = (messages: MessageQueue): boolean =>
  messages.recordChanged || messages.commands.length > 0 || messages.malformed.length > 0;

function read(
  kind: OperatorCommand['kind'],
  payload: unknown,
): ReturnType<typeof parseOperatorCommand> {
  if (payload !== UNDECODABLE) return parseOperatorCommand(kind, payload);
  return { problem: `${kind} could not be decoded: send JSON` };
}

function refuseMalformed(kind: OperatorCommand['kind'], payload: unknown): void {
  const command = read(kind, payload);
  if ('problem' in command) throw refusal(command.problem);
}

/** A failure with a message for operators, without the stack that the UI would show. */
function refusal(message: string, approval?: string): ApplicationFailure {
  const details = approval === undefined ? [] : [approval];
  const failure = ApplicationFailure.nonRetryable(message, REFUSED, ...details);
  failure.stack = '';
  return failure;
}
