import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { movedDepositId, type Deposit } from '../../capabilities/deposits/deposit.js';
import { presentDepositRow } from '../../capabilities/deposits/presenter.js';
import type { DepositFact } from '../../capabilities/deposits/transitions.js';
import type { Deps } from '../../composition/deps.js';
import { addCommand, CommandError } from './command.js';
import { addInstructionCommands, instructionsOf } from './instructions.js';
import { print } from './print.js';

type Options = { reason: string; actor: string; account?: string };

/** Adds the commands for deposits: those of every instruction, and the two decisions about money in suspense. */
export function addDepositCommands(program: Command): void {
  const deposits = program.command('deposits');
  addInstructionCommands(deposits, instructionsOf('deposits'));

  addCommand<Options>(
    deposits,
    'assign <deposit>',
    (command) =>
      withReason(command)
        .description('credit a suspended deposit to an active virtual account of any tenant')
        .requiredOption('--account <id>', 'the virtual account'),
    async (deps, { json, args, options }) => {
      const deposit = await find(deps, String(args[0]));
      const account = await deps.virtualAccounts.store.find(String(options.account));
      if (!account) throw new CommandError(`there is no virtual account ${options.account}`);
      if (account.state !== 'active') throw new CommandError(`the account is ${account.state}`);
      const isOwn = account.tenant_id === deposit.tenant_id;
      const to = {
        id: movedDepositId(deposit._id),
        tenant_id: account.tenant_id,
        virtual_account_id: account._id,
      };
      const fact = isOwn
        ? ({ kind: 'assigned', account: account._id } as const)
        : ({ kind: 'moved', to } as const);
      const changed = await decide(deps, deposit, options, { instruction: 'confirm', ...fact });
      if (!isOwn) deps.deposits.starter.startSoon(changed);
      print(json, { ...presentDepositRow(changed), moved_to: changed.moved_to?.id ?? null });
    },
  );

  addCommand<Options>(
    deposits,
    'return <deposit>',
    (command) => withReason(command).description('send a suspended deposit back to its sender'),
    async (deps, { json, args, options }) => {
      const deposit = await find(deps, String(args[0]));
      const ordered = { instruction: 'return', kind: 'return_ordered' } as const;
      const changed = await decide(deps, deposit, options, ordered);
      deps.deposits.starter.startSoon(changed);
      print(json, presentDepositRow(changed));
    },
  );
}

const withReason = (command: Command) =>
  command
    .requiredOption('--reason <text>', 'the reason, for the timeline')
    .option('--actor <name>', 'your name, for the timeline', userInfo().username);

async function find({ deposits }: Deps, id: string): Promise<Deposit> {
  const found = await deposits.store.find(id);
  if (!found) throw new CommandError(`there is no deposit ${id}`);
  return found;
}

type Decision = DepositFact extends infer Fact
  ? Fact extends { kind: 'assigned' | 'moved' | 'return_ordered' }
    ? Omit<Fact, 'via' | 'actor' | 'providerRequestId' | 'note'>
    : never
  : never;

/** Commits an operator's decision. Throws a `CommandError` if the deposit is not in suspense. */
async function decide(
  { deposits }: Deps,
  deposit: Deposit,
  { reason, actor }: Options,
  decision: Decision,
): Promise<Deposit> {
  const source = { via: 'operator', actor, providerRequestId: null, note: reason } as const;
  const result = await deposits.store.applyFact(deposit, { ...source, ...decision });
  if (result.kind === 'fact' && result.verdict === 'applied') return result.deposit;
  throw new CommandError(
    `${deposit._id} is ${deposit.state}: only a deposit in suspense is assigned or returned`,
  );
}
