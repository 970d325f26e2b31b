import { Option, type Command } from 'commander';
import {
  RECURRING_STATUSES,
  type RecurringStatus,
} from '../../capabilities/recurring-charges/record.js';
import { changeRecurring, getRecurring, listRecurring } from '../operator-api/recurring-charges.js';
import { LISTED } from '../operator-api/schema.js';
import { addApiCommand, addRecordCommand, flagOf } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest } from './print.js';

const CHANGES = {
  pause: 'charge no period that begins from now on',
  resume: 'charge periods again, from now on',
  cancel: 'end a recurring charge for good',
} as const;

/** Adds the commands for recurring charges. */
export function addRecurringChargeCommands(program: Command): void {
  const recurring = program.command('recurring-charges');

  addApiCommand<{ tenant?: string; status?: RecurringStatus; attention?: boolean }>(
    recurring,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED}`)
        .option('--tenant <tenant>', 'only recurring charges of this tenant')
        .addOption(
          new Option('--status <status>', 'only those in this status').choices(RECURRING_STATUSES),
        )
        .option('--attention', 'only those that need an operator, the longest waiting first'),
    async (operator, { json, options: { tenant, status, attention } }) => {
      const query = {
        attention: flagOf(attention),
        ...(tenant !== undefined && { tenant }),
        ...(status && { status }),
      };
      printLatest(json, await operator.call(listRecurring, { query }), LISTED);
    },
  );

  addRecordCommand(recurring, 'show <recurring-charge>', getRecurring, {
    description: 'show one recurring charge',
  });

  for (const change of ['pause', 'resume', 'cancel'] as const) {
    addApiCommand<{ yes?: boolean }>(
      recurring,
      `${change} <recurring-charge>`,
      (command) => (change === 'cancel' ? addYes(command) : command).description(CHANGES[change]),
      async (operator, { json, args, options }) => {
        const id = String(args[0]);
        if (change === 'cancel') {
          await confirm(`Cancel ${id} permanently?`, { json, yes: options.yes });
        }
        const input = { params: { id, change }, body: {} };
        print(json, await operator.call(changeRecurring, input, noSuch(id)));
      },
    );
  }
}

const noSuch = (id: string) => `there is no recurring charge ${id}`;
