import type { Command } from 'commander';
import { toWireAmount } from '../money.js';
import { presentRefund } from '../payments/refunds/presenter.js';
import type { Refund } from '../payments/refunds/refund.js';
import { addPursuedCommands, type Pursued } from './pursuits.js';

const pursued: Pursued<Refund> = {
  name: 'refund',
  provider: 'provider',
  find: ({ refunds }, id) => refunds.find(id),
  command: ({ refundStarter }, ...given) => refundStarter.command(...given),
};

export function addRefundCommands(program: Command): void {
  const refunds = program.command('refunds');

  addPursuedCommands(refunds, pursued, {
    latest: (deps, of) => deps.refunds.latest(of),
    row: refundRow,
    whole: presentForOperators,
  });
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
