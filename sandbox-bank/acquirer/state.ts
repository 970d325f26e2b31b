import type { JournalEffects } from '../shared/journal-effects.js';
import { createChargeState } from './charge-state.js';
import type { AcquirerRecord } from './records.js';
import { createDisputeState } from './dispute-state.js';
import { createRefundState } from './refund-state.js';

/** The acquirer's charges, authorizations, refunds and disputes. */
export type AcquirerState = ReturnType<typeof createAcquirerState>;

/** Holds the acquirer's state. Only `apply` changes it, so a replay of the journal gives the same state. */
export function createAcquirerState(effects: JournalEffects) {
  const charges = createChargeState(effects);
  const refunds = createRefundState(effects);
  const disputes = createDisputeState(effects);
  return {
    charges,
    refunds,
    disputes,
    apply(record: AcquirerRecord): void {
      if ('refund' in record) refunds.apply(record);
      else if ('dispute' in record) disputes.apply(record);
      else if ('charge_reference' in record) charges.cancelReference(record.charge_reference);
      else charges.apply(record);
    },
  };
}
