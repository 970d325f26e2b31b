import { randomBytes } from 'node:crypto';
import { answer, type Outcome } from '../shared/wire.js';
import { NEXT_AFTER_MS } from './behaviours.js';
import type { Charge } from './charge-state.js';
import { decisive } from './charges.js';
import type { AcquirerContext } from './context.js';
import type { RefundOutcomes } from './refund-outcomes.js';
import { noSuchCharge, presentRefund } from './wire.js';

/** Creates the acquirer's own desk, at which somebody refunds without the client. */
export function createDesk({ state, timers }: AcquirerContext, outcomes: RefundOutcomes) {
  const { charges, refunds } = state;

  /** A refund that somebody makes at the desk, with a note of their own. */
  function refund(reference: string, amountMinor?: number): Outcome {
    const charge =
      decisive(charges.withReference(reference)) ??
      charges.withClientReference(reference).findLast(({ status }) => status === 'paid');
    if (charge?.status !== 'paid') return noSuchCharge();
    const made = outcomes.order({
      charge: charge.order.reference,
      amount_minor: amountMinor ?? charge.paidMinor ?? 0,
      currency: 'NGN',
      merchant_note: `desk-${randomBytes(6).toString('hex')}`,
      client_reference: 'desk',
      requested_at: new Date().toISOString(),
    });
    outcomes.applyOutcome(made, 'refunded');
    return answer(200, presentRefund(made));
  }

  return {
    refund,
    /** Refunds a paid charge, if its behaviour says so. */
    schedule({ status, behaviour, order, updatedAt }: Charge): void {
      if (status !== 'paid' || behaviour !== 'refunded_at_desk') return;
      timers.after(updatedAt + NEXT_AFTER_MS - Date.now(), () => {
        if (refunds.ofCharge(order.reference).length === 0) refund(order.reference);
      });
    },
  };
}
