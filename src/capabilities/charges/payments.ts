import type { CoreDeps } from '../../core/capability.js';
import type { Tenants } from '../../platform/tenants/store.js';
import { createChargeCalls } from './provider-calls.js';
import { createChargeCreation } from './create.js';
import { createCharges } from './store.js';
import { createRefundCalls } from '../refunds/provider-calls.js';
import { createRefundCreation } from '../refunds/create.js';
import { createChargeStarter, createRefundStarter } from './starters.js';
import { createRefunds } from '../refunds/store.js';
import { recurringChanges } from '../recurring-charges/create.js';
import { createRecurringStarter } from '../recurring-charges/starter.js';
import { createRecurringCharges } from '../recurring-charges/store.js';
import { createTokenCreation } from '../payment-tokens/create.js';
import { createTokens } from '../payment-tokens/store.js';

/** Everything that payments are made of; a line in deps.ts. */
export function createPayments(deps: CoreDeps & { tenants: Tenants }) {
  const { config, database, groupCommit, client, providers, completionWaiters, log } = deps;
  const { attentionAfterMs, pollMaxMs, stallTimeoutMs } = config.instructions;
  const { dunningDays, chargeExpiresMs: expiresAfterMs } = config.payments;
  const tokens = createTokens(database, groupCommit);
  const charges = createCharges(database, groupCommit, stallTimeoutMs);
  const refunds = createRefunds(database, groupCommit, stallTimeoutMs);
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
    stallTimeoutMs,
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
    chargeWatch: completionWaiters.create({ findEnded: (ids) => charges.waitedFor(ids) }),
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
    refundWatch: completionWaiters.create({ findEnded: (ids) => refunds.findEnded(ids) }),
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
