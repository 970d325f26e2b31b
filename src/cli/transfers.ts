import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Deps } from '../deps.js';
import { toWireAmount } from '../money.js';
import { OPERATOR_KINDS } from '../pursuits/operator.js';
import { presentTransfer } from '../transfers/presenter.js';
import { wholeTimeline } from '../pursuits/timeline.js';
import type { Transfer } from '../transfers/transfer.js';
import { addCommand, CommandError } from './command.js';
import { print, printTable } from './print.js';

const LISTED = 100;

export function addTransferCommands(program: Command): void {
  const transfers = program.command('transfers').description('what was promised');

  addCommand<{ attention?: boolean }>(
    transfers,
    'list',
    (command) => command.option('--attention', 'only those that wait for an operator'),
    async (deps, { json, options }) => {
      const attention = options.attention ?? false;
      const found = await deps.transfers.latest({ attention, limit: LISTED });
      printTable(json, found.map(presentRow));
    },
  );

  addCommand(
    transfers,
    'show <transfer>',
    (command) => command,
    async (deps, { json, args }) => {
      const transfer = await find(deps, String(args[0]));
      const told = await deps.webhooks.deliveries.timelineOf(transfer.tenant, transfer._id);
      const timeline = wholeTimeline(transfer, told).map((entry) => ({
        ...entry,
        at: entry.at.toISOString(),
      }));
      if (json) return print(json, { ...presentTransfer(transfer), timeline });
      print(json, presentTransfer(transfer));
      printTable(json, timeline);
    },
  );

  for (const kind of OPERATOR_KINDS) addOperatorCommand(transfers, kind);
}

type Act = { reason: string; actor: string; sessionId?: string; force?: boolean };

/** The bank is asked first; exit code 1 when the act was refused. */
function addOperatorCommand(transfers: Command, kind: (typeof OPERATOR_KINDS)[number]): void {
  addCommand<Act>(
    transfers,
    `${kind} <transfer>`,
    (command) => {
      command
        .requiredOption('--reason <text>', 'why, for the timeline')
        .option('--actor <name>', 'who, for the timeline', userInfo().username);
      if (kind === 'complete') command.option('--session-id <id>', 'as the bank has it');
      if (kind === 'fail') command.option('--force', 'release although the bank is undecided');
      return command;
    },
    async (deps, { json, options, args }) => {
      const transfer = await find(deps, String(args[0]));
      const { reason, actor, sessionId = null, force = false } = options;
      const payload = { actor, reason, session_id: sessionId, force };
      const { done, message } = await deps.starter.command(transfer, kind, payload);
      const { status } = await find(deps, transfer._id);
      print(json, { id: transfer._id, done, message, status });
      if (!done) process.exitCode = 1;
    },
  );
}

async function find({ transfers }: Deps, id: string): Promise<Transfer> {
  const owner = await transfers.ownerOf(id);
  const transfer = owner && (await transfers.get(owner.tenant, id));
  if (!transfer) throw new CommandError(`there is no transfer ${id}`);
  return transfer;
}

const presentRow = (transfer: Transfer) => ({
  id: transfer._id,
  tenant: transfer.tenant,
  status: transfer.status,
  amount_minor: toWireAmount(transfer.amount_minor),
  attention: transfer.attention?.reason ?? null,
  created_at: transfer.created_at.toISOString(),
});
