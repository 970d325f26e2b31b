import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { capabilities } from '../../composition/capabilities.js';
import type { Deps } from '../../composition/deps.js';
import type { OperatedInstruction, PrintedFields } from '../../core/capability.js';
import { OPERATOR_COMMANDS } from '../../core/instructions/operator-commands.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import type { OperatorCommand } from '../../core/instructions/workflow-contract.js';
import { timelineWithDeliveries } from '../../core/instructions/timeline.js';
import { addCommand, CommandError, parseAmount } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest, printTable } from './print.js';

/** A kind of instruction, as its capability describes it for operators. */
export type Instruction = OperatedInstruction<Deps>;

/** The instruction of a capability of the list. Throws if the capability has none. */
export function instructionOf(capability: string): Instruction {
  const found = capabilities.find(({ name }) => name === capability)?.instruction;
  if (!found) throw new Error(`${capability} has no instructions`);
  return found;
}

type OperatorOptions = {
  reason: string;
  actor: string;
  sessionId?: string;
  amountMinor?: bigint;
  force?: boolean;
  absent?: boolean;
  yes?: boolean;
};

const LISTED = 100;

/** Adds `list`, `show` and the operator commands for the instructions of a capability, under the capability's name. */
export const addCapabilityCommands =
  (capability: string) =>
  (program: Command): void => {
    addInstructionCommands(program.command(capability), instructionOf(capability));
  };

/** Adds `list`, `show` and the operator commands for a kind of instruction that has a list of its own. */
export function addInstructionCommands(parent: Command, instruction: Instruction): void {
  addCommand<{ attention?: boolean }>(
    parent,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED}`)
        .option('--attention', 'only those that need an operator, the longest waiting first'),
    async (deps, { json, options: { attention = false } }) => {
      const { store } = instruction.records(deps);
      const found = await store.latest({ attention, limit: LISTED });
      printLatest(
        json,
        found.map((record) => instruction.presentRow(record)),
        LISTED,
      );
    },
  );

  addCommand(
    parent,
    `show <${instruction.labels.record}>`,
    (command) => command.description(`show one ${instruction.labels.record} with its timeline`),
    async (deps, { json, args }) => {
      const record = await findRecord(deps, instruction, String(args[0]));
      await printWithTimeline(deps, json, record, instruction.presentDetails(record));
    },
  );

  addOperatorCommands(parent, instruction);
}

/**
 * Adds `retry`, `verify`, `complete` and `fail`. The provider is asked first. Exit code 1 if the command was refused.
 */
export function addOperatorCommands(parent: Command, instruction: Instruction): void {
  for (const kind of OPERATOR_COMMANDS) addOperatorCommand(parent, instruction, kind);
}

function addOperatorCommand(
  parent: Command,
  instruction: Instruction,
  kind: OperatorCommand['kind'],
): void {
  const { record: name, provider } = instruction.labels;
  addCommand<OperatorOptions>(
    parent,
    `${kind} <${name}>`,
    (command) => {
      command
        .description(descriptionOf(kind, instruction))
        .requiredOption('--reason <text>', 'the reason, for the timeline')
        .option('--actor <name>', 'your name, for the timeline', userInfo().username);
      if (kind === 'complete') {
        command
          .option('--session-id <id>', `session id of the ${provider}`)
          .option(
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
      if (kind === 'fail') {
        addYes(command).option(
          '--force',
          `fail it although the ${provider} does not confirm that it failed`,
        );
      }
      return command;
    },
    async (deps, { json, options, args }) => {
      const record = await findRecord(deps, instruction, String(args[0]));
      const { reason, actor, sessionId = null, amountMinor, yes } = options;
      const { force = false, absent = false } = options;
      if (force) {
        const question = `Fail ${record._id}, although the ${provider} may have carried it out?`;
        await confirm(question, { json, yes });
      }
      if (absent) {
        const question = `Submit ${record._id} once more? If the ${provider} executes both, both are paid.`;
        await confirm(question, { json, yes });
      }
      const amount = amountMinor === undefined ? {} : { amount_minor: Number(amountMinor) };
      const payload = {
        actor,
        reason,
        session_id: sessionId,
        ...amount,
        ...(absent && { absent }),
        force,
      };
      const { starter } = instruction.records(deps);
      const { done, message } = await starter.command(record, kind, payload);
      const { status } = await findRecord(deps, instruction, record._id);
      print(json, { id: record._id, done, message, status });
      if (!done) process.exitCode = 1;
    },
  );
}

function descriptionOf(kind: OperatorCommand['kind'], { labels }: Instruction): string {
  const { provider } = labels;
  switch (kind) {
    case 'retry':
      return `verify with the ${provider} now and often; submit again if the ${provider} rules it out`;
    case 'verify':
      return `verify with the ${provider} now, and apply the answer`;
    case 'complete':
      return `complete it if the ${provider} confirms that it was carried out`;
    case 'fail':
      return `fail it if the ${provider} confirms that it was not carried out`;
  }
}

/** Finds a record by id; throws a `CommandError` if there is none. */
export async function findRecord(
  deps: Deps,
  instruction: Instruction,
  id: string,
): Promise<InstructionRecord> {
  const record = await instruction.records(deps).store.find(id);
  if (!record) throw new CommandError(`there is no ${instruction.labels.record} ${id}`);
  return record;
}

/** Prints a record with its whole timeline, webhook deliveries included. */
export async function printWithTimeline(
  { webhooks }: Deps,
  json: boolean,
  record: InstructionRecord,
  presented: PrintedFields,
): Promise<void> {
  const deliveries = await webhooks.deliveries.timelineOf(record.tenant_id, record._id);
  const timeline = timelineWithDeliveries(record, deliveries).map((entry) => ({
    ...entry,
    at: entry.at.toISOString(),
  }));
  if (json) return print(json, { ...presented, timeline });
  print(json, presented);
  printTable(json, timeline);
}
