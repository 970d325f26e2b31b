import type { Command } from 'commander';
import { toWireAmount } from '../money.js';
import { attemptReference, statusOf, type Charge } from '../payments/charges/charge.js';
import { presentCharge } from '../payments/charges/presenter.js';
import { addPursuitCommands } from './pursuits.js';

export function addChargeCommands(program: Command): void {
  const charges = program.command('charges').description('what customers pay');
  addPursuitCommands<Charge>(charges, {
    record: 'charge',
    provider: 'provider',
    latest: ({ charges: store }, query) => store.latest(query),
    find: ({ charges: store }, id) => store.find(id),
    row: (charge) => ({
      id: charge._id,
      tenant: charge.tenant,
      status: statusOf(charge),
      amount_minor: toWireAmount(charge.amount_minor),
      attempt: charge.attempt,
      attention: charge.attention?.reason ?? null,
      created_at: charge.created_at.toISOString(),
    }),
    present: (charge) => ({
      id: charge._id,
      tenant: charge.tenant,
      ...presentCharge(charge),
      provider: charge.provider,
      provider_reference: attemptReference(charge),
      next_attempt_at: charge.next_attempt_at?.toISOString() ?? null,
    }),
    command: ({ chargeStarter }, ...act) => chargeStarter.command(...act),
  });
}
