import { NEXT_AFTER_MS } from './behaviours.js';
import { createChargeOutcomes } from './charge-outcomes.js';
import { isUnpaidPage, type Charge } from './charge-state.js';
import { createCharges } from './charges.js';
import { createDesk } from './desk.js';
import { createDisputes } from './disputes.js';
import { createPages } from './pages.js';
import type { AcquirerContext } from './context.js';
import { createRefundOutcomes } from './refund-outcomes.js';
import { createRefunds } from './refunds.js';
import { createOutcomeSetter } from './set-outcome.js';

/** The acquirer's operations, as its routes call them. */
export type Acquirer = ReturnType<typeof createAcquirer>;

/** Creates the payment acquirer. It shares only the journal, signatures and faults with the bank. */
export function createAcquirer(parts: AcquirerContext) {
  const { state, timers } = parts;
  const refundOutcomes = createRefundOutcomes(parts);
  const disputes = createDisputes(parts);
  const desk = createDesk(parts, refundOutcomes);
  const chargeOutcomes = createChargeOutcomes(parts, (charge) => {
    disputes.schedule(charge);
    desk.schedule(charge);
    payOtherPages(charge);
  });

  /** The customer pays the other pages of a paid charge too, if its behaviour says so. */
  function payOtherPages({ status, behaviour, order, updatedAt }: Charge): void {
    if (status !== 'paid' || behaviour !== 'paid_twice') return;
    timers.after(updatedAt + NEXT_AFTER_MS - Date.now(), () => {
      const pages = state.charges.withClientReference(order.client_reference);
      pages.filter(isUnpaidPage).forEach(chargeOutcomes.applyOutcome);
    });
  }

  return {
    charges: createCharges(parts, chargeOutcomes),
    disputes,
    pages: createPages(parts.state, chargeOutcomes),
    setChargeOutcome: createOutcomeSetter(parts.state, chargeOutcomes),
    refunds: createRefunds(parts, refundOutcomes),
    desk,
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume(): void {
      chargeOutcomes.resume();
      refundOutcomes.resume();
    },
  };
}
