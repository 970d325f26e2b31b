import type { Command } from 'commander';
import { toWireAmount } from '../money.js';
import { attemptReference, statusOf, type Charge } from '../payments/charges/charge.js';
import { presentCharge } from '../payments/charges/presenter.js';
import { addPursuedCommands, type Pursued } from './pursuits.js';

const pursued: Pursued<Charge> = {
  name: 'charge',
  provider: 'provider',
  find: ({ charges }, id) => charges.find(id),
  command: ({ chargeStarter }, ...given) => chargeStarter.command(...given),
};

export function addChargeCommands(program: Command): void {
  const charges = program.command('charges');

  addPursuedCommands(charges, pursued, {
    latest: (deps, of) => deps.charges.latest(of),
    row: chargeRow,
    whole: presentForOperators,
  });
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
