import type { Command } from 'commander';
import { toWireAmount } from '../money.js';
import { attemptReference, statusOf, type Charge } from '../payments/charges/charge.js';
import { presentCharge } from '../payments/charges/presenter.js';
import { addCommand } from './command.js';
import { printLatest } from './print.js';
import { addOperatorCommands, findRecord, printWithTimeline, type Pursued } from './pursuits.js';

const LISTED = 100;

const pursued: Pursued<Charge> = {
  name: 'charge',
  provider: 'provider',
  find: ({ charges }, id) => charges.find(id),
  command: ({ chargeStarter }, ...given) => chargeStarter.command(...given),
};

export function addChargeCommands(program: Command): void {
  const charges = program.command('charges').description('what customers pay');

  addCommand<{ attention?: boolean }>(
    charges,
    'list',
    (command) => command.option('--attention', 'only those that wait for an operator'),
    async (deps, { json, options: { attention = false } }) => {
      const found = await deps.charges.latest({ attention, limit: LISTED });
      printLatest(json, found.map(chargeRow), LISTED);
    },
  );

  addCommand(
    charges,
    'show <charge>',
    (command) => command,
    async (deps, { json, args }) => {
      const charge = await findRecord(deps, pursued, String(args[0]));
      await printWithTimeline(deps, json, charge, presentForOperators(charge));
    },
  );

  addOperatorCommands(charges, pursued);
}

const chargeRow = (charge: Charge) => ({
  id: charge._id,
  tenant: charge.tenant,
  status: statusOf(charge),
  amount_minor: toWireAmount(charge.amount_minor),
  attempt: charge.attempt,
  attention: charge.attention?.reason ?? null,
  created_at: charge.created_at.toISOString(),
});

/** Also what tenants never see. */
const presentForOperators = (charge: Charge) => ({
  id: charge._id,
  ...presentCharge(charge),
  tenant: charge.tenant,
  provider: charge.provider,
  provider_reference: attemptReference(charge),
  next_attempt_at: charge.next_attempt_at?.toISOString() ?? null,
  sends: charge.sends,
});
