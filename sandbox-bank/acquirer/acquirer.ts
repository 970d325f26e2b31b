import { createChargeBooks } from './charge-outcomes.js';
import { createCharges } from './charges.js';
import { createPages } from './pages.js';
import type { NetworkParts } from './context.js';
import { createRefundBooks } from './refund-outcomes.js';
import { createRefunds } from './refunds.js';
import { createTell } from './set-outcome.js';

export type Network = ReturnType<typeof createNetwork>;

/** The payment network: it shares the bank's journal, signatures and faults, and nothing else. */
export function createNetwork(parts: NetworkParts) {
  const chargeBooks = createChargeBooks(parts);
  const refundBooks = createRefundBooks(parts);
  return {
    charges: createCharges(parts, chargeBooks),
    pages: createPages(parts.state, chargeBooks),
    tellCharge: createTell(parts.state, chargeBooks),
    refunds: createRefunds(parts, refundBooks),
    /** After a start: takes up what was left undone at the last stop. */
    resume(): void {
      chargeBooks.resume();
      refundBooks.resume();
    },
  };
}
