import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Deps } from '../deps.js';
import { MAX_WAIT_SECONDS } from '../http/prefer.js';
import { toWireAmount } from '../money.js';
import { OPERATOR_KINDS } from '../pursuits/operator.js';
import { presentTransfer } from '../transfers/presenter.js';
import { wholeTimeline } from '../pursuits/timeline.js';
import type { Transfer } from '../transfers/transfer.js';
import { addCommand, addPlainCommand, CommandError, parseAmount, parseWhole } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest, printTable } from './print.js';
import { explain, findApi, type ApiOptions } from './public-api.js';

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
      printLatest(json, found.map(presentRow), LISTED);
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

  addSendCommand(transfers);
  for (const kind of OPERATOR_KINDS) addOperatorCommand(transfers, kind);
}

type Send = ApiOptions & {
  to: string;
  bank: string;
  amountMinor: bigint;
  narration: string;
  reference?: string;
  idempotencyKey?: string;
  wait?: number;
};

/** As a tenant does it: by the public API. Exit code 1 when it was refused, and when it has failed by then. */
function addSendCommand(transfers: Command): void {
  addPlainCommand<Send>(
    transfers,
    'send',
    (command) =>
      command
        .description('send money, by the public API')
        .requiredOption('--to <account>', '10 digits')
        .requiredOption('--bank <code>')
        .requiredOption('--amount-minor <n>', 'kobo', parseAmount)
        .requiredOption('--narration <text>', 'what it is for')
        .option('--reference <text>', 'your own name for it')
        .option('--idempotency-key <key>', 'of an earlier try, to find out what became of it')
        .option('--wait <seconds>', 'for its end, 30 at the most', parseWhole(0, MAX_WAIT_SECONDS))
        .option('--api <url>', 'default: BURSAR_API_URL, then dev.json')
        .option('--key <key>', 'default: BURSAR_API_KEY, then dev.json'),
    async ({ json, options }) => {
      const { to, bank, amountMinor, narration, reference, idempotencyKey, wait } = options;
      const body = {
        recipient_account: to,
        recipient_bank_code: bank,
        amount_minor: Number(amountMinor),
        narration,
        ...(reference !== undefined && { reference }),
      };
      const call = {
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(wait !== undefined && { wait }),
      };
      const { data } = await findApi(options)
        .createTransfer(body, call)
        .catch((error: unknown) => {
          throw explain(error);
        });
      print(json, data);
      if (data.status === 'failed') process.exitCode = 1;
    },
  );
}

type Act = {
  reason: string;
  actor: string;
  sessionId?: string;
  force?: boolean;
  yes?: boolean;
};

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
      if (kind === 'fail') {
        addYes(command).option('--force', 'release although the bank is undecided');
      }
      return command;
    },
    async (deps, { json, options, args }) => {
      const transfer = await find(deps, String(args[0]));
      const { reason, actor, sessionId = null, force = false, yes } = options;
      if (force) {
        const question = `Give ${transfer._id} up, although the bank may have paid it?`;
        await confirm(question, { json, yes });
      }
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
