import { createChargeOutcomes } from './charge-outcomes.js';
import { createCharges } from './charges.js';
import { createPages } from './pages.js';
import type { AcquirerContext } from './context.js';
import { createRefundOutcomes } from './refund-outcomes.js';
import { createRefunds } from './refunds.js';
import { createOutcomeSetter } from './set-outcome.js';

/** The acquirer's operations, as its routes call them. */
export type Acquirer = ReturnType<typeof createAcquirer>;

/** Creates the payment acquirer. It shares only the journal, signatures and faults with the bank. */
export function createAcquirer(parts: AcquirerContext) {
  const chargeBooks = createChargeOutcomes(parts);
  const refundBooks = createRefundOutcomes(parts);
  return {
    charges: createCharges(parts, chargeBooks),
    pages: createPages(parts.state, chargeBooks),
    setChargeOutcome: createOutcomeSetter(parts.state, chargeBooks),
    refunds: createRefunds(parts, refundBooks),
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume(): void {
      chargeBooks.resume();
      refundBooks.resume();
    },
  };
}
