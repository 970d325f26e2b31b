import type { JournalEffects } from '../shared/journal-effects.js';
import { createChargeState } from './charge-state.js';
import type { AcquirerRecord } from './records.js';
import { createRefundState } from './refund-state.js';

/** The acquirer's charges, authorizations and refunds. */
export type AcquirerState = ReturnType<typeof createAcquirerState>;

/** Holds the acquirer's state. Only `apply` changes it, so a replay of the journal gives the same state. */
export function createAcquirerState(effects: JournalEffects) {
  const charges = createChargeState(effects);
  const refunds = createRefundState(effects);
  return {
    charges,
    refunds,
    apply(record: AcquirerRecord): void {
      if ('refund' in record) refunds.apply(record);
      else charges.apply(record);
    },
  };
}
