import type { Command } from 'commander';
import { toWireAmount } from '../../shared/money.js';
import { attemptReference, statusOf, type Charge } from '../../capabilities/charges/charge.js';
import { presentCharge } from '../../capabilities/charges/presenter.js';
import { addInstructionCommands, type InstructionCommands } from './instructions.js';

const chargeCommands: InstructionCommands<Charge> = {
  name: 'charge',
  provider: 'provider',
  find: ({ charges }, id) => charges.store.find(id),
  command: ({ charges }, ...given) => charges.starter.command(...given),
};

/** Adds the commands for charges. */
export function addChargeCommands(program: Command): void {
  const charges = program.command('charges');

  addInstructionCommands(charges, chargeCommands, {
    latest: (deps, of) => deps.charges.store.latest(of),
    row: chargeRow,
    details: presentForOperators,
  });
}

const chargeRow = (charge: Charge) => ({
  id: charge._id,
  tenant: charge.tenant_id,
  status: statusOf(charge),
  amount_minor: toWireAmount(charge.amount_minor),
  attempt: charge.attempt,
  attention: charge.attention?.reason ?? null,
  created_at: charge.created_at.toISOString(),
});

/** Contains fields that tenants do not get. */
const presentForOperators = (charge: Charge) => ({
  id: charge._id,
  ...presentCharge(charge),
  tenant: charge.tenant_id,
  provider: charge.provider,
  provider_reference: attemptReference(charge),
  next_attempt_at: charge.next_attempt_at?.toISOString() ?? null,
  submissions: charge.submissions,
});
