import {
  ApplicationFailure,
  condition,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import { OPERATOR_KINDS, readCommand, REFUSED } from '../src/pursuits/operator.js';
import type { OperatorAnswer, OperatorCommand } from '../src/pursuits/reports.js';
import { UNDECODABLE } from './payload-converter.js';
import type { Pages } from './pursuit-pages.js';

/** Says that the record may have changed. Carries nothing: facts are in the store. */
export const wakeSignal = defineSignal('wake');

export type PendingCommand = { command: OperatorCommand; answer: OperatorAnswer | null };
export type Inbox = {
  awake: boolean;
  commands: PendingCommand[];
  /** Messages that could not be read, in words. */
  unreadable: string[];
};

/**
 * Takes what operators and callbacks send. Handlers only enqueue: one loop acts. Each command is there as a signal,
 * which anybody can send in bulk, and as an update of the same name, which is checked and answered. A refusal fails the
 * update: whatever an update returns, the UI calls it successful.
 */
export function openInbox(descriptions: Pages['descriptions']): Inbox {
  const inbox: Inbox = { awake: false, commands: [], unreadable: [] };
  setHandler(wakeSignal, () => void (inbox.awake = true), {
    description: 'Look at the record now: something has become known.',
  });
  for (const kind of OPERATOR_KINDS) {
    const description = descriptions[kind];
    setHandler(
      defineSignal<[unknown]>(kind),
      (payload) => {
        const command = read(kind, payload);
        if ('problem' in command) inbox.unreadable.push(command.problem);
        else inbox.commands.push({ command, answer: null });
      },
      { description },
    );
    setHandler(
      defineUpdate<OperatorAnswer, [unknown]>(kind),
      async (payload) => {
        const command = read(kind, payload);
        if ('problem' in command) throw refusal(command.problem);
        const pending: PendingCommand = { command, answer: null };
        inbox.commands.push(pending);
        await condition(() => pending.answer !== null);
        const answer = pending.answer as unknown as OperatorAnswer;
        if (!answer.done) throw refusal(answer.message);
        return answer;
      },
      { description, validator: (payload) => refuseUnreadable(kind, payload) },
    );
  }
  return inbox;
}

export const hasMail = (inbox: Inbox): boolean =>
  inbox.awake || inbox.commands.length > 0 || inbox.unreadable.length > 0;

function read(kind: OperatorCommand['kind'], payload: unknown): ReturnType<typeof readCommand> {
  if (payload !== UNDECODABLE) return readCommand(kind, payload);
  return { problem: `${kind} could not be decoded: it has to be JSON` };
}

function refuseUnreadable(kind: OperatorCommand['kind'], payload: unknown): void {
  const command = read(kind, payload);
  if ('problem' in command) throw refusal(command.problem);
}

/** Words for an operator, without the stack that the UI would show below them. */
function refusal(message: string): ApplicationFailure {
  const failure = ApplicationFailure.nonRetryable(message, REFUSED);
  failure.stack = '';
  return failure;
}
