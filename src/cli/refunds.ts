import type { Command } from 'commander';
import { toWireAmount } from '../money.js';
import { presentRefund } from '../payments/refunds/presenter.js';
import type { Refund } from '../payments/refunds/refund.js';
import { addCommand } from './command.js';
import { printLatest } from './print.js';
import { addOperatorCommands, findRecord, printWithTimeline, type Pursued } from './pursuits.js';

const LISTED = 100;

const pursued: Pursued<Refund> = {
  name: 'refund',
  provider: 'provider',
  find: ({ refunds }, id) => refunds.find(id),
  command: ({ refundStarter }, ...given) => refundStarter.command(...given),
};

export function addRefundCommands(program: Command): void {
  const refunds = program.command('refunds').description('what customers get back');

  addCommand<{ attention?: boolean }>(
    refunds,
    'list',
    (command) => command.option('--attention', 'only those that wait for an operator'),
    async (deps, { json, options: { attention = false } }) => {
      const found = await deps.refunds.latest({ attention, limit: LISTED });
      printLatest(json, found.map(refundRow), LISTED);
    },
  );

  addCommand(
    refunds,
    'show <refund>',
    (command) => command,
    async (deps, { json, args }) => {
      const refund = await findRecord(deps, pursued, String(args[0]));
      await printWithTimeline(deps, json, refund, presentForOperators(refund));
    },
  );

  addOperatorCommands(refunds, pursued);
}

const refundRow = (refund: Refund) => ({
  id: refund._id,
  tenant: refund.tenant,
  charge: refund.charge,
  status: refund.status,
  amount_minor: toWireAmount(refund.amount_minor),
  attention: refund.attention?.reason ?? null,
  created_at: refund.created_at.toISOString(),
});

/** Also what tenants never see. */
const presentForOperators = (refund: Refund) => ({
  id: refund._id,
  ...presentRefund(refund),
  tenant: refund.tenant,
  charge: refund.charge,
  provider: refund.provider,
  provider_charge: refund.paid_as,
  provider_refund: refund.provider_refund,
  in_suspense: refund.in_suspense,
  sends: refund.sends,
});
