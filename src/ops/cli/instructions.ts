import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Deps } from '../../composition/deps.js';
import { OPERATOR_COMMANDS } from '../../core/instructions/operator-commands.js';
import type { InstructionRecord } from '../../core/instructions/instruction.js';
import type {
  OperatorAnswer,
  OperatorCommand,
  OperatorPayload,
} from '../../core/instructions/workflow-contract.js';
import { timelineWithDeliveries } from '../../core/instructions/timeline.js';
import { addCommand, CommandError } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest, printTable } from './print.js';

/** The operator commands for one kind of instruction. */
export type InstructionCommands<R extends InstructionRecord> = {
  /** The name of a record, and the party that confirms its outcome. */
  name: string;
  provider: string;
  find(deps: Deps, id: string): Promise<R | null>;
  command(
    deps: Deps,
    record: R,
    kind: OperatorCommand['kind'],
    payload: OperatorPayload,
  ): Promise<OperatorAnswer>;
};

type OperatorOptions = {
  reason: string;
  actor: string;
  sessionId?: string;
  force?: boolean;
  yes?: boolean;
};

const LISTED = 100;

/** The fields of a row, or of one record. */
type Shown = Record<string, string | number | boolean | object | null>;

/** Adds `list`, `show` and the operator commands for a kind of instruction that has a list of its own. */
export function addInstructionCommands<R extends InstructionRecord>(
  parent: Command,
  commands: InstructionCommands<R>,
  shown: {
    latest(deps: Deps, of: { attention: boolean; limit: number }): Promise<R[]>;
    row(record: R): Shown;
    /** The fields of one record, with those that tenants do not get. */
    details(record: R): Shown;
  },
): void {
  addCommand<{ attention?: boolean }>(
    parent,
    'list',
    (command) => command.option('--attention', 'only records that need an operator'),
    async (deps, { json, options: { attention = false } }) => {
      const found = await shown.latest(deps, { attention, limit: LISTED });
      printLatest(
        json,
        found.map((record) => shown.row(record)),
        LISTED,
      );
    },
  );

  addCommand(
    parent,
    `show <${commands.name}>`,
    (command) => command,
    async (deps, { json, args }) => {
      const record = await findRecord(deps, commands, String(args[0]));
      await printWithTimeline(deps, json, record, shown.details(record));
    },
  );

  addOperatorCommands(parent, commands);
}

/**
 * Adds `retry`, `verify`, `complete` and `fail`. The provider is asked first. Exit code 1 if the command was refused.
 */
export function addOperatorCommands<R extends InstructionRecord>(
  parent: Command,
  commands: InstructionCommands<R>,
): void {
  for (const kind of OPERATOR_COMMANDS) addOperatorCommand(parent, commands, kind);
}

function addOperatorCommand<R extends InstructionRecord>(
  parent: Command,
  commands: InstructionCommands<R>,
  kind: OperatorCommand['kind'],
): void {
  const { name, provider } = commands;
  addCommand<OperatorOptions>(
    parent,
    `${kind} <${name}>`,
    (command) => {
      command
        .requiredOption('--reason <text>', 'the reason, for the timeline')
        .option('--actor <name>', 'your name, for the timeline', userInfo().username);
      if (kind === 'complete') command.option('--session-id <id>', `session id of the ${provider}`);
      if (kind === 'fail') {
        addYes(command).option(
          '--force',
          `release the hold although the ${provider} has not confirmed a failure`,
        );
      }
      return command;
    },
    async (deps, { json, options, args }) => {
      const record = await findRecord(deps, commands, String(args[0]));
      const { reason, actor, sessionId = null, force = false, yes } = options;
      if (force) {
        const question = `Fail ${record._id}, although the ${provider} may have carried it out?`;
        await confirm(question, { json, yes });
      }
      const payload = { actor, reason, session_id: sessionId, force };
      const { done, message } = await commands.command(deps, record, kind, payload);
      const { status } = await findRecord(deps, commands, record._id);
      print(json, { id: record._id, done, message, status });
      if (!done) process.exitCode = 1;
    },
  );
}

/** Finds a record by id; throws a `CommandError` if there is none. */
export async function findRecord<R extends InstructionRecord>(
  deps: Deps,
  { name, find }: Pick<InstructionCommands<R>, 'name' | 'find'>,
  id: string,
): Promise<R> {
  const record = await find(deps, id);
  if (!record) throw new CommandError(`there is no ${name} ${id}`);
  return record;
}

/** Prints a record with its whole timeline, webhook deliveries included. */
export async function printWithTimeline(
  { webhooks }: Deps,
  json: boolean,
  record: InstructionRecord,
  presented: Shown,
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
