import type { Command } from 'commander';
import { capabilities } from '../../composition/capabilities.js';
import { OPERATOR_COMMANDS } from '../../core/instructions/operator-commands.js';
import type {
  InstructionLabels,
  OperatorCommand,
} from '../../core/instructions/workflow-contract.js';
import { describeCommand, instructionOperations } from '../operator-api/instructions.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, flagOf, parseAmount } from './command.js';
import { addYes, confirm } from './confirm.js';
import type { OperatorClient } from './operator-client.js';
import { print, printLatest, printWithTimeline } from './print.js';

/** The instructions of a capability, as the command line names them and the operator API serves them. */
export type Instructions = {
  labels: Pick<InstructionLabels, 'record' | 'provider'>;
  operations: ReturnType<typeof instructionOperations>;
};

/** The instructions of a capability of the list. Throws if the capability has none. */
export function instructionsOf(capability: string): Instructions {
  const found = capabilities.find(({ name }) => name === capability)?.instruction;
  if (!found) throw new Error(`${capability} has no instructions`);
  const { labels } = found;
  return { labels, operations: instructionOperations(capability, labels) };
}

/** The commands that may be forced, and what the provider then does not confirm. All four take the option, for scripts. */
const FORCED: Partial<Record<OperatorCommand['kind'], string>> = {
  complete: 'it',
  fail: 'that it failed',
};

type OperatorOptions = {
  reason: string;
  sessionId?: string;
  amountMinor?: bigint;
  force?: boolean;
  absent?: boolean;
  yes?: boolean;
};

/** Adds `list`, `show` and the operator commands for the instructions of a capability, under the capability's name. */
export const addCapabilityCommands =
  (capability: string) =>
  (program: Command): void => {
    addInstructionCommands(program.command(capability), instructionsOf(capability));
  };

/** Adds `list`, `show` and the operator commands for a kind of instruction that has a list of its own. */
export function addInstructionCommands(parent: Command, instructions: Instructions): void {
  const { labels, operations } = instructions;
  addApiCommand<{ attention?: boolean }>(
    parent,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED}`)
        .option('--attention', 'only those that need an operator, the longest waiting first'),
    async (operator, { json, options: { attention } }) => {
      const query = { attention: flagOf(attention) };
      printLatest(json, await operator.call(operations.list, { query }), LISTED);
    },
  );

  addApiCommand(
    parent,
    `show <${labels.record}>`,
    (command) => command.description(`show one ${labels.record} with its timeline`),
    (operator, { json, args }) => showRecord(operator, instructions, String(args[0]), json),
  );

  addOperatorCommands(parent, instructions);
}

/**
 * Adds `retry`, `verify`, `complete` and `fail`. The provider is asked first. Exit code 1 if the command was refused.
 */
export function addOperatorCommands(parent: Command, instructions: Instructions): void {
  for (const kind of OPERATOR_COMMANDS) addOperatorCommand(parent, instructions, kind);
}

function addOperatorCommand(
  parent: Command,
  { labels, operations }: Instructions,
  kind: OperatorCommand['kind'],
): void {
  const { record: name, provider } = labels;
  addApiCommand<OperatorOptions>(
    parent,
    `${kind} <${name}>`,
    (command) => addOptions(command, kind, provider),
    async (operator, { json, options, args }) => {
      const id = String(args[0]);
      const { reason, amountMinor, yes, absent = false } = options;
      const force = kind in FORCED && options.force === true;
      const sessionId = kind === 'complete' ? options.sessionId : undefined;
      if (force) {
        const question = `${kind} ${id}, although the ${provider} may say otherwise later?`;
        await confirm(question, { json, yes });
      }
      if (absent) {
        const question = `Submit ${id} once more? If the ${provider} executes both, both are paid.`;
        await confirm(question, { json, yes });
      }
      const body = {
        reason,
        force,
        absent,
        ...(sessionId !== undefined && { session_id: sessionId }),
        ...(amountMinor !== undefined && { amount_minor: Number(amountMinor) }),
      };
      const input = { params: { id }, body };
      const answer = await operator.call(operations.command(kind), input, noSuch(name, id));
      print(json, answer);
      if (!answer.done) process.exitCode = 1;
    },
  );
}

function addOptions(command: Command, kind: OperatorCommand['kind'], provider: string): Command {
  const forced = FORCED[kind];
  command
    .description(describeCommand(kind, { record: '', provider }))
    .requiredOption('--reason <text>', 'the reason, for the audit log')
    .option(
      '--force',
      forced === undefined
        ? 'for complete and fail; has no effect here'
        : `${kind} it although the ${provider} does not confirm ${forced}; a second person must approve it`,
    )
    .option(
      '--session-id <id>',
      kind === 'complete' ? `session id of the ${provider}` : 'for complete; has no effect here',
    );
  if (kind === 'complete') {
    addYes(command).option(
      '--amount-minor <kobo>',
      `accept this amount, if the ${provider} reports it in place of the requested one`,
      parseAmount,
    );
  }
  if (kind === 'retry') {
    addYes(command).option(
      '--absent',
      `attest that the ${provider} never executes what was submitted; if it does not know it, submit once more`,
    );
  }
  if (kind === 'fail') addYes(command);
  return command;
}

/** Shows a record with its whole timeline, webhook deliveries included. */
export async function showRecord(
  operator: OperatorClient,
  { labels, operations }: Instructions,
  id: string,
  json: boolean,
): Promise<void> {
  const input = { params: { id } };
  const missing = noSuch(labels.record, id);
  printWithTimeline(json, await operator.call(operations.show, input, missing));
}

const noSuch = (record: string, id: string) => `there is no ${record} ${id}`;
