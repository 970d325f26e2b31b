import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { z } from 'zod';
import {
  addStatementRows,
  beginStatement,
  compareStatement,
  getStatement,
  listStatements,
  pullStatement,
  ROWS_AT_ONCE,
  type StatementRowInput,
} from '../operator-api/statements.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, addRecordCommand, CommandError } from './command.js';
import { readCsv } from './csv.js';
import type { OperatorClient } from './operator-client.js';
import { print, printLatest } from './print.js';
import { parseRate } from './reconcile.js';
import { createProgress } from './progress.js';
import { createRowReader, hasTimes, mappingSchema, type Mapping } from './statement-mapping.js';

type PullOptions = { provider: string; from: Date; to: Date; perSecond: number };
type ImportOptions = { provider: string; mapping: string; from?: Date; to?: Date };

/** Adds the commands for statements of providers. */
export function addStatementCommands(program: Command): void {
  const statements = program.command('statements');
  addApiCommand<ImportOptions>(
    statements,
    'import <file>',
    (command) =>
      command
        .description(
          'import a statement (CSV) and compare it with the ledger; a repeat continues; exit code 1 unless all proofs hold',
        )
        .requiredOption('--provider <name>', 'the provider whose statement it is')
        .requiredOption('--mapping <file>', 'the mapping file of this provider (JSON)')
        .option('--from <time>', 'begin of the period (default: the first row)', parseTime)
        .option('--to <time>', 'end of the period (default: the last row)', parseTime),
    async (operator, { json, args, options }) => {
      const file = String(args[0]);
      const mapping = readMapping(options.mapping);
      const id = await importFile(operator, { file, mapping, options });
      await match(operator, id, json);
    },
  );
  addApiCommand<PullOptions>(
    statements,
    'pull',
    (command) =>
      command
        .description(
          'read the ledger of a provider as a statement, and compare it; a repeat of the same period continues',
        )
        .requiredOption('--provider <name>', 'the provider, for example paystack')
        .requiredOption('--from <time>', 'begin of the period', parseTime)
        .requiredOption('--to <time>', 'end of the period', parseTime)
        .option('--per-second <n>', 'calls to the provider per second', parseRate, 1),
    async (operator, { json, options: { provider, from, to, perSecond } }) => {
      const window = { from: from.toISOString(), to: to.toISOString() };
      const body = { provider, ...window, per_second: perSecond };
      const pulled = await operator.call(pullStatement, { body });
      await match(operator, idOf(pulled), json);
    },
  );
  addApiCommand(
    statements,
    'match <statement>',
    (command) =>
      command.description('compare a statement again, after the books or the bank were corrected'),
    async (operator, { json, args }) => match(operator, String(args[0]), json),
  );
  addApiCommand(
    statements,
    'list',
    (command) => command.description(`list the latest ${LISTED} statements with their verdicts`),
    async (operator, { json }) => {
      printLatest(json, await operator.call(listStatements, {}), LISTED);
    },
  );
  addRecordCommand(statements, 'show <statement>', getStatement, {
    description: 'show a statement with the figures of its proofs',
  });
}

const idOf = ({ id }: Record<string, unknown>) => (typeof id === 'string' ? id : '');
const noSuch = (id: string) => `there is no statement ${id}`;

async function match(operator: OperatorClient, id: string, json: boolean): Promise<void> {
  const found = await operator.call(compareStatement, { params: { id } }, noSuch(id));
  print(json, found);
  const holds =
    found['agreement'] === true && found['complete'] !== false && found['balance'] !== false;
  if (!holds) process.exitCode = 1;
}

type Given = { file: string; mapping: Mapping; options: ImportOptions };

/** Sends the rows that the service does not have yet. Returns the id of the statement. */
async function importFile(operator: OperatorClient, { file, mapping, options }: Given) {
  const { provider, from, to } = options;
  const begun = await operator.call(beginStatement, {
    body: {
      provider,
      name: basename(file).slice(0, 200),
      sha256: await hashOf(file, mapping),
      order: mapping.order,
      has_times: hasTimes(mapping),
      ...(from && { from: from.toISOString() }),
      ...(to && { to: to.toISOString() }),
    },
  });
  const id = idOf(begun);
  const known = Number(begun['rows']);
  const progress = createProgress('rows imported');
  let portion: StatementRowInput[] = [];
  const send = async (last: boolean) => {
    await operator.call(addStatementRows, { params: { id }, body: { rows: portion, last } });
    portion = [];
  };
  for await (const row of rowsOf(file, mapping)) {
    progress.at(row.line);
    if (row.line <= known) continue;
    portion.push(row);
    if (portion.length === ROWS_AT_ONCE) await send(false);
  }
  await send(true);
  progress.end();
  return id;
}

/** The hash of the file and of its mapping: the same file read otherwise is another statement. */
async function hashOf(file: string, mapping: Mapping): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(mapping));
  for await (const piece of open(file)) hash.update(piece);
  return hash.digest('hex');
}

/** Yields the rows of a file, in constant memory. */
export async function* rowsOf(file: string, mapping: Mapping): AsyncGenerator<StatementRowInput> {
  let read: ReturnType<typeof createRowReader> | null = null;
  let [skipped, line] = [0, 0];
  for await (const fields of readCsv(open(file, mapping.encoding), mapping.separator)) {
    if (skipped < mapping.skip_lines) skipped += 1;
    else if (read === null) read = createRowReader(mapping, fields);
    else yield read(fields, (line += 1));
  }
  if (line === 0) throw new CommandError(`${file} has no rows`);
}

function open(file: string): AsyncIterable<Buffer>;
function open(file: string, encoding: BufferEncoding): AsyncIterable<string>;
function open(file: string, encoding?: BufferEncoding): AsyncIterable<Buffer | string> {
  return createReadStream(file, { ...(encoding && { encoding }), highWaterMark: 256 * 1024 });
}

function readMapping(file: string): Mapping {
  const parsed = mappingSchema.safeParse(jsonOf(file));
  if (parsed.success) return parsed.data;
  throw new CommandError(`${file} is no mapping: ${z.prettifyError(parsed.error)}`);
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandError(`${file} can't be read: ${String(error)}`);
  }
}

function parseTime(text: string): Date {
  const at = new Date(text);
  if (!Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError('must be a time such as 2026-11-01T00:00:00+01:00.');
}
