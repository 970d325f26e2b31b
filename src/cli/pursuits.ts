import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Deps } from '../deps.js';
import { OPERATOR_KINDS } from '../pursuits/operator.js';
import type { PursuedRecord } from '../pursuits/record.js';
import type { OperatorAnswer, OperatorPayload } from '../pursuits/reports.js';
import { wholeTimeline } from '../pursuits/timeline.js';
import { addCommand, CommandError } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest, printTable } from './print.js';

const LISTED = 100;

type Row = Record<string, string | number | boolean | null | undefined | object>;
type Kind = (typeof OPERATOR_KINDS)[number];

/** What an operator can do with the records of a capability, whatever it is. */
export type PursuitCommands<R extends PursuedRecord> = {
  /** What it is called, and who is asked about it. */
  record: string;
  provider: string;
  latest(deps: Deps, query: { attention: boolean; limit: number }): Promise<R[]>;
  /** By its id alone. */
  find(deps: Deps, id: string): Promise<R | null>;
  row(record: R): Row;
  present(record: R): Row;
  command(deps: Deps, record: R, kind: Kind, payload: OperatorPayload): Promise<OperatorAnswer>;
};

/** `list`, `show`, `retry`, `verify`, `complete` and `fail`. */
export function addPursuitCommands<R extends PursuedRecord>(
  parent: Command,
  commands: PursuitCommands<R>,
): void {
  addCommand<{ attention?: boolean }>(
    parent,
    'list',
    (command) => command.option('--attention', 'only those that wait for an operator'),
    async (deps, { json, options }) => {
      const attention = options.attention ?? false;
      const found = await commands.latest(deps, { attention, limit: LISTED });
      printLatest(json, found.map(commands.row), LISTED);
    },
  );

  addCommand(
    parent,
    `show <${commands.record}>`,
    (command) => command,
    async (deps, { json, args }) => {
      const record = await find(commands, deps, args[0]);
      const told = await deps.webhooks.deliveries.timelineOf(record.tenant, record._id);
      const timeline = wholeTimeline(record, told).map((entry) => ({
        ...entry,
        at: entry.at.toISOString(),
      }));
      if (json) return print(json, { ...commands.present(record), timeline });
      print(json, commands.present(record));
      printTable(json, timeline);
    },
  );

  for (const kind of OPERATOR_KINDS) addOperatorCommand(parent, kind, commands);
}

type Act = {
  reason: string;
  actor: string;
  sessionId?: string;
  force?: boolean;
  yes?: boolean;
};

/** The provider is asked first; exit code 1 when the act was refused. */
function addOperatorCommand<R extends PursuedRecord>(
  parent: Command,
  kind: Kind,
  commands: PursuitCommands<R>,
): void {
  const { record: name, provider } = commands;
  addCommand<Act>(
    parent,
    `${kind} <${name}>`,
    (command) => {
      command
        .requiredOption('--reason <text>', 'why, for the timeline')
        .option('--actor <name>', 'who, for the timeline', userInfo().username);
      if (kind === 'complete') command.option('--session-id <id>', `as the ${provider} has it`);
      if (kind === 'fail') {
        addYes(command).option('--force', `give it up although the ${provider} is undecided`);
      }
      return command;
    },
    async (deps, { json, options, args }) => {
      const record = await find(commands, deps, args[0]);
      const { reason, actor, sessionId = null, force = false, yes } = options;
      if (force) {
        const question = `Give ${record._id} up, although the ${provider} may have paid it?`;
        await confirm(question, { json, yes });
      }
      const payload = { actor, reason, session_id: sessionId, force };
      const { done, message } = await commands.command(deps, record, kind, payload);
      const { status } = await find(commands, deps, record._id);
      print(json, { id: record._id, done, message, status });
      if (!done) process.exitCode = 1;
    },
  );
}

async function find<R extends PursuedRecord>(
  { record, find: findOne }: PursuitCommands<R>,
  deps: Deps,
  id: unknown,
): Promise<R> {
  const found = await findOne(deps, String(id));
  if (!found) throw new CommandError(`there is no ${record} ${String(id)}`);
  return found;
}
