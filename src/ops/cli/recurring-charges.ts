import { Option, type Command } from 'commander';
import type { Deps } from '../../composition/deps.js';
import { toWireAmount } from '../../shared/money.js';
import { presentRecurringCharge } from '../../capabilities/recurring-charges/presenter.js';
import {
  RECURRING_STATUSES,
  type RecurringCharge,
  type RecurringStatus,
} from '../../capabilities/recurring-charges/recurring-charge.js';
import { inWords } from '../../capabilities/recurring-charges/schedule.js';
import { addCommand, CommandError } from './command.js';
import { addYes, confirm } from './confirm.js';
import { print, printLatest } from './print.js';

const LISTED = 100;
const CHANGES = {
  pause: 'charge no period that begins from now on',
  resume: 'charge periods again, from now on',
  cancel: 'end a recurring charge for good',
} as const;

/** Adds the commands for recurring charges. */
export function addRecurringChargeCommands(program: Command): void {
  const recurring = program.command('recurring-charges');

  addCommand<{ tenant?: string; status?: RecurringStatus }>(
    recurring,
    'list',
    (command) =>
      command
        .description(`list the latest ${LISTED}`)
        .option('--tenant <tenant>', 'only recurring charges of this tenant')
        .addOption(
          new Option('--status <status>', 'only those in this status').choices(RECURRING_STATUSES),
        ),
    async (deps, { json, options: { tenant: tenantId, status } }) => {
      const filter = {
        ...(tenantId !== undefined && { tenant_id: tenantId }),
        ...(status && { status }),
      };
      const found = await deps.recurringCharges.store.latest(filter, LISTED);
      printLatest(json, found.map(presentRow), LISTED);
    },
  );

  addCommand(
    recurring,
    'show <recurring-charge>',
    (command) => command.description('show one recurring charge'),
    async (deps, { json, args }) => print(json, present(await find(deps, String(args[0])))),
  );

  for (const change of ['pause', 'resume', 'cancel'] as const) {
    addCommand<{ yes?: boolean }>(
      recurring,
      `${change} <recurring-charge>`,
      (command) => (change === 'cancel' ? addYes(command) : command).description(CHANGES[change]),
      async (deps, { json, args, options }) => {
        const before = await find(deps, String(args[0]));
        if (change === 'cancel') {
          await confirm(`Cancel ${before._id} permanently?`, { json, yes: options.yes });
        }
        const { answer } = await deps.recurringCharges.change(before, change, null);
        const after = await find(deps, before._id);
        if (answer.status !== 200) throw new CommandError(`${after._id} is ${after.status}`);
        print(json, present(after));
      },
    );
  }
}

async function find({ recurringCharges }: Deps, id: string): Promise<RecurringCharge> {
  const found = await recurringCharges.store.find(id);
  if (!found) throw new CommandError(`there is no recurring charge ${id}`);
  return found;
}

const present = (recurring: RecurringCharge) => ({
  ...presentRecurringCharge(recurring),
  tenant: recurring.tenant_id,
  charges: inWords({ ...recurring, status: 'active' }),
});

const presentRow = (recurring: RecurringCharge) => ({
  id: recurring._id,
  tenant: recurring.tenant_id,
  status: recurring.status,
  amount_minor: toWireAmount(recurring.amount_minor),
  interval: `${recurring.interval_count} ${recurring.interval}`,
  charged: recurring.charged_periods,
  next_charge_at: presentRecurringCharge(recurring).next_charge_at,
});
