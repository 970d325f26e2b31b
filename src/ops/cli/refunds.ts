import type { Command } from 'commander';
import { toWireAmount } from '../../shared/money.js';
import { presentRefund } from '../../capabilities/refunds/presenter.js';
import type { Refund } from '../../capabilities/refunds/refund.js';
import { addInstructionCommands, type InstructionCommands } from './instructions.js';

const refundCommands: InstructionCommands<Refund> = {
  name: 'refund',
  provider: 'provider',
  find: ({ refunds }, id) => refunds.store.find(id),
  command: ({ refunds }, ...given) => refunds.starter.command(...given),
};

/** Adds the commands for refunds. */
export function addRefundCommands(program: Command): void {
  const refunds = program.command('refunds');

  addInstructionCommands(refunds, refundCommands, {
    latest: (deps, of) => deps.refunds.store.latest(of),
    row: refundRow,
    details: presentForOperators,
  });
}

const refundRow = (refund: Refund) => ({
  id: refund._id,
  tenant: refund.tenant_id,
  charge: refund.charge_id,
  status: refund.status,
  amount_minor: toWireAmount(refund.amount_minor),
  attention: refund.attention?.reason ?? null,
  created_at: refund.created_at.toISOString(),
});

/** Contains fields that tenants do not get. */
const presentForOperators = (refund: Refund) => ({
  id: refund._id,
  ...presentRefund(refund),
  tenant: refund.tenant_id,
  charge: refund.charge_id,
  provider: refund.provider,
  provider_charge: refund.provider_charge_reference,
  provider_refund_id: refund.provider_refund_id,
  in_suspense: refund.in_suspense,
  submissions: refund.submissions,
});
