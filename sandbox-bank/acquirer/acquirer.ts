import { createChargeOutcomes } from './charge-outcomes.js';
import { createCharges } from './charges.js';
import { createPages } from './pages.js';
import type { AcquirerContext } from './context.js';
import { createRefundOutcomes } from './refund-outcomes.js';
import { createRefunds } from './refunds.js';
import { createOutcomeSetter } from './set-outcome.js';

export type Acquirer = ReturnType<typeof createAcquirer>;

/** The payment acquirer: it shares the bank's journal, signatures and faults, and nothing else. */
export function createAcquirer(parts: AcquirerContext) {
  const chargeBooks = createChargeOutcomes(parts);
  const refundBooks = createRefundOutcomes(parts);
  return {
    charges: createCharges(parts, chargeBooks),
    pages: createPages(parts.state, chargeBooks),
    setChargeOutcome: createOutcomeSetter(parts.state, chargeBooks),
    refunds: createRefunds(parts, refundBooks),
    /** After a start: takes up what was left undone at the last stop. */
    resume(): void {
      chargeBooks.resume();
      refundBooks.resume();
    },
  };
}
