import { randomUUID } from 'node:crypto';
import { isUndecided, type Charge } from '../../../src/capabilities/charges/record.js';
import { NEEDS_ACCOUNT } from '../../../src/capabilities/refunds/provider-calls.js';
import type { Refund } from '../../../src/capabilities/refunds/record.js';
import type { Act } from '../../../src/core/audit/entry.js';
import { newId } from '../../../src/shared/ids.js';
import type { ChaosCluster } from './cluster.js';

const REASON = 'the random-fault run decides it';
const ACCOUNT = { number: '0123456789', bank_code: '058' };

const actOn = (
  action: string,
  { _id: target, tenant_id: tenantId }: { _id: string; tenant_id: string },
): Act => ({
  id: randomUUID(),
  actor: { operator: 'opr_ada', name: 'ada', roles: ['operator'] },
  action,
  target,
  tenantId,
  reason: REASON,
  requestId: null,
  approval: null,
});

/** Operators who decide what waits for a person with charges and refunds, as the operator API does. */
export function createPaymentOperators({ service }: Pick<ChaosCluster, 'service'>) {
  const { database, charges, refunds } = service.deps;
  const storedCharges = database.db.collection<Charge>('charges');
  const storedRefunds = database.db.collection<Refund>('refunds');

  return {
    /** The charges with a payment in suspense that nobody has decided. */
    undecided: async (): Promise<Charge[]> => {
      const found = await storedCharges.find({ 'suspended.0': { $exists: true } }).toArray();
      return found.filter(({ suspended }) => suspended.some(isUndecided));
    },

    /** Accepts a payment in suspense in place of the requested amount. Returns whether it was possible. */
    async accept(charge: Charge): Promise<boolean> {
      const payment = charge.suspended.find(isUndecided);
      if (!payment) return false;
      const { done } = await charges.starter.command(charge, 'complete', {
        actor: 'ada',
        reason: REASON,
        session_id: null,
        amount_minor: Number(payment.amount_minor),
        attempt: payment.attempt,
        force: false,
      });
      return done;
    },

    /** Returns a payment in suspense to its payer, by a refund. Returns whether it was possible. */
    async giveBack(charge: Charge): Promise<boolean> {
      const payment = charge.suspended.find(isUndecided);
      if (!payment) return false;
      const { _id, tenant_id: tenantId } = charge;
      const refund = await refunds.store.orderReturn({
        tenantId,
        id: newId('refund'),
        charge: _id,
        attempt: payment.attempt,
        act: actOn('charges.return', charge),
      });
      if (refund) refunds.starter.startSoon(refund);
      return refund !== null;
    },

    /** Names an account for each refund that waits for one. Returns the number of refunds. */
    async nameAccounts(): Promise<number> {
      const waiting = await storedRefunds
        .find({
          status: 'processing',
          'attention.reason': { $regex: `^${NEEDS_ACCOUNT}` },
          customer_account: null,
        })
        .toArray();
      for (const refund of waiting) {
        const act = actOn('refunds.resume', refund);
        const named = await refunds.store.nameAccount(refund, ACCOUNT, act);
        if (named) refunds.starter.notifyChangedSoon(named);
      }
      return waiting.length;
    },

    /** Stands by the refunds of the provider's desk that call an operator, for example because the wallet did not cover them. */
    async standByDeskRefunds(): Promise<void> {
      const called = await storedRefunds
        .find({ status: 'completed', made_by: 'provider', attention: { $ne: null } })
        .toArray();
      const payload = { actor: 'ada', reason: REASON, session_id: null, force: false };
      for (const refund of called) await refunds.starter.command(refund, 'complete', payload);
    },
  };
}
