import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Deps } from '../deps.js';
import { OPERATOR_KINDS } from '../pursuits/operator.js';
import type { PursuedRecord } from '../pursuits/record.js';
import type { OperatorAnswer, OperatorCommand, OperatorPayload } from '../pursuits/reports.js';
import { wholeTimeline } from '../pursuits/timeline.js';
import { addCommand, CommandError } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest, printTable } from './print.js';

/** What operators can do with a kind of record that is pursued, beside looking at it. */
export type Pursued<R extends PursuedRecord> = {
  /** What the record is called, and who has to confirm what is said of it. */
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

type Act = {
  reason: string;
  actor: string;
  sessionId?: string;
  force?: boolean;
  yes?: boolean;
};

const LISTED = 100;

/** A row of a table, or what is shown of one record. */
type Shown = Record<string, string | number | boolean | object | null>;

/** `list`, `show` and what operators can do, of records that are listed by themselves. */
export function addPursuedCommands<R extends PursuedRecord>(
  parent: Command,
  pursued: Pursued<R>,
  shown: {
    latest(deps: Deps, of: { attention: boolean; limit: number }): Promise<R[]>;
    row(record: R): Shown;
    /** Also what tenants never see. */
    whole(record: R): Shown;
  },
): void {
  addCommand<{ attention?: boolean }>(
    parent,
    'list',
    (command) => command.option('--attention', 'only those that wait for an operator'),
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
    `show <${pursued.name}>`,
    (command) => command,
    async (deps, { json, args }) => {
      const record = await findRecord(deps, pursued, String(args[0]));
      await printWithTimeline(deps, json, record, shown.whole(record));
    },
  );

  addOperatorCommands(parent, pursued);
}

/** `retry`, `verify`, `complete` and `fail`. The provider is asked first; exit code 1 when the act was refused. */
export function addOperatorCommands<R extends PursuedRecord>(
  parent: Command,
  pursued: Pursued<R>,
): void {
  for (const kind of OPERATOR_KINDS) addOperatorCommand(parent, pursued, kind);
}

function addOperatorCommand<R extends PursuedRecord>(
  parent: Command,
  pursued: Pursued<R>,
  kind: OperatorCommand['kind'],
): void {
  const { name, provider } = pursued;
  addCommand<Act>(
    parent,
    `${kind} <${name}>`,
    (command) => {
      command
        .requiredOption('--reason <text>', 'why, for the timeline')
        .option('--actor <name>', 'who, for the timeline', userInfo().username);
      if (kind === 'complete') command.option('--session-id <id>', `as the ${provider} has it`);
      if (kind === 'fail') {
        addYes(command).option('--force', `release although the ${provider} is undecided`);
      }
      return command;
    },
    async (deps, { json, options, args }) => {
      const record = await findRecord(deps, pursued, String(args[0]));
      const { reason, actor, sessionId = null, force = false, yes } = options;
      if (force) {
        const question = `Give ${record._id} up, although the ${provider} may have done it?`;
        await confirm(question, { json, yes });
      }
      const payload = { actor, reason, session_id: sessionId, force };
      const { done, message } = await pursued.command(deps, record, kind, payload);
      const { status } = await findRecord(deps, pursued, record._id);
      print(json, { id: record._id, done, message, status });
      if (!done) process.exitCode = 1;
    },
  );
}

export async function findRecord<R extends PursuedRecord>(
  deps: Deps,
  { name, find }: Pick<Pursued<R>, 'name' | 'find'>,
  id: string,
): Promise<R> {
  const record = await find(deps, id);
  if (!record) throw new CommandError(`there is no ${name} ${id}`);
  return record;
}

/** A record with every step of its life, and what its tenant was told of it. */
export async function printWithTimeline(
  { webhooks }: Deps,
  json: boolean,
  record: PursuedRecord,
  presented: Shown,
): Promise<void> {
  const told = await webhooks.deliveries.timelineOf(record.tenant, record._id);
  const timeline = wholeTimeline(record, told).map((entry) => ({
    ...entry,
    at: entry.at.toISOString(),
  }));
  if (json) return print(json, { ...presented, timeline });
  print(json, presented);
  printTable(json, timeline);
}
