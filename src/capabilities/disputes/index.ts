import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { chargeCapability, type ChargeParts } from '../charges/index.js';
import { refundCapability, type RefundParts } from '../refunds/index.js';
import { disputeOperations } from './api.js';
import { auditDisputes } from './audit.js';
import { disputes } from './dispute.js';
import { applyDisputeFact } from './mutations.js';
import { createTakenBackReader } from './provider-calls.js';
import { disputeEventHandler } from './provider-events.js';
import { disputeRoutes } from './routes.js';
import { createDisputes } from './store.js';
import { disputeEvents } from './webhook-events.js';

export type { ReadTakenBack } from './provider-calls.js';

function createDisputeParts(
  { database, groupCommit, providers }: CoreDeps,
  {
    charges,
    refunds,
  }: { charges: Pick<ChargeParts, 'store'>; refunds: Pick<RefundParts, 'store'> },
) {
  const store = createDisputes(database, groupCommit);
  const stores = { charges: charges.store, refunds: refunds.store, disputes: store };
  return { store, readTakenBack: createTakenBackReader({ ...stores, providers }) };
}

/** The capability `disputes`: chargebacks of charges, as their providers report them. */
export const disputeCapability = defineCapability({
  name: 'disputes',
  servedBy: 'payments',
  mutations: forwardable({ applyDisputeFact }),
  needs: { charges: chargeCapability, refunds: refundCapability },
  collections: [disputes],
  operations: disputeOperations,
  events: disputeEvents,
  audit: auditDisputes,
  create: createDisputeParts,
  routes: disputeRoutes,
  listsAttention: false,
  providerEvents: disputeEventHandler,
});
