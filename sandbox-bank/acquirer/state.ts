import type { JournalEffects } from '../shared/journal-effects.js';
import { createChargeState } from './charge-state.js';
import type { AcquirerRecord } from './records.js';
import { createRefundState } from './refund-state.js';

export type AcquirerState = ReturnType<typeof createAcquirerState>;

/** All that the payment acquirer knows. Like the bank's state, it changes by `apply` alone. */
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
