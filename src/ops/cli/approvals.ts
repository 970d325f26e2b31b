import type { Command } from 'commander';
import {
  approveApproval,
  getApproval,
  listApprovals,
  rejectApproval,
} from '../operator-api/approvals.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, addRecordCommand, flagOf } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest } from './print.js';

/** Adds the commands for approvals. */
export function addApprovalCommands(program: Command): void {
  const approvals = program.command('approvals');
  addApiCommand<{ open?: boolean }>(
    approvals,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED} requests`)
        .option('--open', 'only requests that wait for a decision, or for the act'),
    async (client, { json, options: { open } }) => {
      printLatest(
        json,
        await client.call(listApprovals, { query: { open: flagOf(open) } }),
        LISTED,
      );
    },
  );

  addRecordCommand(approvals, 'show <approval>', getApproval, {
    description: 'show a request with its evidence',
  });

  addApiCommand<{ reason?: string; yes?: boolean }>(
    approvals,
    'approve <approval>',
    (command) =>
      addYes(command)
        .description(
          'approve the request of another person; the provider is asked again, and the act is carried out; exit code 1 if it is not',
        )
        .option('--reason <text>', 'the reason, for the audit log'),
    async (client, { json, args, options: { reason, yes } }) => {
      const id = String(args[0]);
      if (!json && !yes)
        print(json, await client.call(getApproval, { params: { id } }, noSuch(id)));
      await confirm(`Approve ${id}?`, { json, yes });
      const body = { ...(reason !== undefined && { reason }) };
      const answer = await client.call(approveApproval, { params: { id }, body }, noSuch(id));
      print(json, answer);
      // An approved act with a secret is carried out by the person who asked for it.
      if (answer['done'] !== true && answer['status'] !== 'approved') process.exitCode = 1;
    },
  );

  addApiCommand<{ reason?: string }>(
    approvals,
    'reject <approval>',
    (command) =>
      command
        .description('reject a request, also one of your own')
        .option('--reason <text>', 'the reason, for the audit log'),
    async (client, { json, args, options: { reason } }) => {
      const id = String(args[0]);
      const input = { params: { id }, body: { ...(reason !== undefined && { reason }) } };
      print(json, await client.call(rejectApproval, input, noSuch(id)));
    },
  );
}

const noSuch = (id: string) => `there is no approval ${id}`;
