import type { Effects } from '../journal-effects.js';
import { createChargeState } from './charge-state.js';
import type { NetworkRecord } from './records.js';
import { createRefundState } from './refund-state.js';

export type NetworkState = ReturnType<typeof createNetworkState>;

/** All that the payment network knows. Like the bank's state, it changes by `apply` alone. */
export function createNetworkState(effects: Effects) {
  const charges = createChargeState(effects);
  const refunds = createRefundState(effects);
  return {
    charges,
    refunds,
    apply(record: NetworkRecord): void {
      if ('refund' in record) refunds.apply(record);
      else charges.apply(record);
    },
  };
}
