import {
  ApplicationFailure,
  condition,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import {
  OPERATOR_COMMANDS,
  parseOperatorCommand,
  REFUSED,
} from '../../src/core/instructions/operator-commands.js';
import type {
  OperatorAnswer,
  OperatorCommand,
} from '../../src/core/instructions/workflow-contract.js';
import { UNDECODABLE } from '../payload-converter.js';
import type { WorkflowDetails } from './details.js';

/** Says that the record may have changed. Carries nothing: facts are in the store. */
export const recordChangedSignal = defineSignal('recordChanged');

export type PendingCommand = { command: OperatorCommand; answer: OperatorAnswer | null };
export type MessageQueue = {
  recordChanged: boolean;
  commands: PendingCommand[];
  /** Messages that could not be read, in words. */
  malformed: string[];
};

/**
 * Takes what operators and callbacks send. Handlers only enqueue: one loop acts. Each command is there as a signal,
 * which anybody can send in bulk, and as an update of the same name, which is checked and answered. A refusal fails the
 * update: whatever an update returns, the UI calls it successful.
 */
export function openMessageQueue(descriptions: WorkflowDetails['descriptions']): MessageQueue {
  const messages: MessageQueue = { recordChanged: false, commands: [], malformed: [] };
  setHandler(recordChangedSignal, () => void (messages.recordChanged = true), {
    description: 'Look at the record now: something has become known.',
  });
  for (const kind of OPERATOR_COMMANDS) {
    const description = descriptions[kind];
    setHandler(
      defineSignal<[unknown]>(kind),
      (payload) => {
        const command = read(kind, payload);
        if ('problem' in command) messages.malformed.push(command.problem);
        else messages.commands.push({ command, answer: null });
      },
      { description },
    );
    setHandler(
      defineUpdate<OperatorAnswer, [unknown]>(kind),
      async (payload) => {
        const command = read(kind, payload);
        if ('problem' in command) throw refusal(command.problem);
        const pending: PendingCommand = { command, answer: null };
        messages.commands.push(pending);
        await condition(() => pending.answer !== null);
        const answer = pending.answer as unknown as OperatorAnswer;
        if (!answer.done) throw refusal(answer.message);
        return answer;
      },
      { description, validator: (payload) => refuseMalformed(kind, payload) },
    );
  }
  return messages;
}

export const hasPendingMessages = (messages: MessageQueue): boolean =>
  messages.recordChanged || messages.commands.length > 0 || messages.malformed.length > 0;

function read(
  kind: OperatorCommand['kind'],
  payload: unknown,
): ReturnType<typeof parseOperatorCommand> {
  if (payload !== UNDECODABLE) return parseOperatorCommand(kind, payload);
  return { problem: `${kind} could not be decoded: it has to be JSON` };
}

function refuseMalformed(kind: OperatorCommand['kind'], payload: unknown): void {
  const command = read(kind, payload);
  if ('problem' in command) throw refusal(command.problem);
}

/** Words for an operator, without the stack that the UI would show below them. */
function refusal(message: string): ApplicationFailure {
  const failure = ApplicationFailure.nonRetryable(message, REFUSED);
  failure.stack = '';
  return failure;
}
