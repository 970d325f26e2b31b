import { erasedRecords } from '../../core/erasure/erased-records.js';
import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { charges, type Charge } from '../charges/record.js';
import { chargeCapability, type ChargeParts } from '../charges/index.js';
import { refundCapability, type RefundParts } from '../refunds/index.js';
import { disputeOperations } from './api.js';
import { auditDisputes } from './audit.js';
import { disputes, type Dispute } from './record.js';
import { actOnDispute, applyDisputeFact } from './mutations.js';
import { reconciledDisputes } from './comparison.js';
import { createDisputeReaders, readDispute } from './provider-calls.js';
import { disputeEventHandler } from './provider-events.js';
import { disputeRoutes } from './routes.js';
import { createDisputes } from './store.js';
import { disputeEvents } from './webhook-events.js';

export type { ReadAfterVerify } from './provider-calls.js';

function createDisputeParts(
  { database, groupCommit, providers }: CoreDeps,
  {
    charges,
    refunds,
  }: { charges: Pick<ChargeParts, 'store'>; refunds: Pick<RefundParts, 'store'> },
) {
  const store = createDisputes(database, groupCommit);
  const stores = { charges: charges.store, refunds: refunds.store, disputes: store };
  return {
    store,
    ...createDisputeReaders({ ...stores, providers }),
    readDispute: (charge: Charge, dispute: Dispute, signal: AbortSignal) =>
      readDispute(providers, charge, dispute, { signal }),
  };
}

/** The capability `disputes`: chargebacks of charges, as their providers report them. */
export const disputeCapability = defineCapability({
  name: 'disputes',
  servedBy: 'payments',
  mutations: forwardable({ applyDisputeFact, actOnDispute }),
  needs: { charges: chargeCapability, refunds: refundCapability },
  collections: [disputes],
  erased: [
    erasedRecords({
      collection: disputes,
      label: 'open disputes',
      by: { field: 'charge_id', of: charges },
      isOpen: ({ status, attention }) => status === 'open' || attention !== null,
      erased: () => ({ reason: null }),
    }),
  ],
  operations: disputeOperations,
  events: disputeEvents,
  audit: auditDisputes,
  create: createDisputeParts,
  routes: disputeRoutes,
  providerEvents: disputeEventHandler,
  reconciled: reconciledDisputes,
});
