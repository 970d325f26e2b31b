import type { Shared } from '../shared.js';
import type { Tenants } from '../tenants/store.js';
import { createChargeCalls } from './charges/calls.js';
import { createChargeCreation } from './charges/create.js';
import { createCharges } from './charges/store.js';
import { createRefundCalls } from './refunds/calls.js';
import { createRefundCreation } from './refunds/create.js';
import { createChargeStarter, createRefundStarter } from './starters.js';
import { createRefunds } from './refunds/store.js';
import { recurringChanges } from './recurring/create.js';
import { createRecurringStarter } from './recurring/starter.js';
import { createRecurringCharges } from './recurring/store.js';
import { createTokenCreation } from './tokens/create.js';
import { createTokens } from './tokens/store.js';

/** Everything that payments are made of; a line in deps.ts. */
export function createPayments(deps: Shared & { tenants: Tenants }) {
  const { config, database, groupCommit, client, providers, watches, log } = deps;
  const { attentionAfterMs, pollMaxMs, sweepSlackMs } = config.transfers;
  const { dunningDays, chargeExpiresMs: expiresAfterMs } = config.payments;
  const tokens = createTokens(database, groupCommit);
  const charges = createCharges(database, groupCommit, sweepSlackMs);
  const refunds = createRefunds(database, groupCommit, sweepSlackMs);
  const starting = {
    client,
    taskQueue: config.temporal.taskQueue,
    policy: { attentionAfterMs, pollMaxMs },
    log,
  };
  const chargeStarter = createChargeStarter(starting);
  const refundStarter = createRefundStarter(starting);
  const provider = providers.forPayments.name;
  const recurringCharges = createRecurringCharges(database, groupCommit, {
    sweepSlackMs,
    dunningDays: async (id) => (await deps.tenants.get(id))?.dunningDays ?? dunningDays,
  });
  const recurringStarter = createRecurringStarter({
    client,
    taskQueue: config.temporal.taskQueue,
    log,
  });
  return {
    tokens,
    createToken: createTokenCreation({ tokens, provider }),
    charges,
    chargeCalls: createChargeCalls({ charges, tokens, providers }),
    chargeStarter,
    chargeWatch: watches.create({ findEnded: (ids) => charges.waitedFor(ids) }),
    createCharge: createChargeCreation({
      charges,
      chargeStarter,
      provider,
      dunningDays,
      expiresAfterMs,
    }),
    refunds,
    refundCalls: createRefundCalls({ refunds, providers }),
    refundStarter,
    refundWatch: watches.create({ findEnded: (ids) => refunds.ended(ids) }),
    createRefund: createRefundCreation({ charges, refunds, refundStarter }),
    recurringCharges,
    recurringStarter,
    ...recurringChanges({ recurringCharges, recurringStarter }),

    paymentStarters: {
      async idle(): Promise<void> {
        await chargeStarter.idle();
        await refundStarter.idle();
        await recurringStarter.idle();
      },
    },
  };
}
