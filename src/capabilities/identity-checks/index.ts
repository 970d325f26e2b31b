import { erasedRecords, isInstructionOpen } from '../../core/erasure/erased-records.js';
import { defineCapability, type CoreDeps } from '../../core/capability.js';
import {
  createInstructionStarter,
  starterSettings,
} from '../../core/instructions/instruction-starter.js';
import { supervised } from '../../core/supervision/supervision.js';
import { identityRateLimitKey } from '../../platform/temporal/queues.js';
import { identityCheckOperations } from './api.js';
import { auditIdentityChecks } from './audit.js';
import { createIdentityCheckCreation } from './create.js';
import { identityChecks, identityCheckWorkflowId, type IdentityCheck } from './record.js';
import { presentCheckDetails, presentCheckRow } from './presenter.js';
import { createIdentityCheckCalls } from './provider-calls.js';
import { identityCheckEventHandler } from './provider-events.js';
import { identityCheckRoutes } from './routes.js';
import { createIdentityChecks } from './store.js';
import { identityCheckEvents } from './webhook-events.js';
import { identityCheckContract } from './workflow-contract.js';

/** The parts of identity checks. */
type IdentityCheckParts = ReturnType<typeof createIdentityCheckParts>;

function createIdentityCheckParts(core: CoreDeps) {
  const { config, database, groupCommit, providers, sealing, completionWaiters } = core;
  const store = createIdentityChecks(database, groupCommit, config.instructions.stallTimeoutMs);
  const starter = createInstructionStarter<IdentityCheck>(starterSettings(core), {
    workflow: identityCheckContract.type,
    workflowId: ({ _id }) => identityCheckWorkflowId(_id),
    rateLimitKey: identityRateLimitKey,
    summary: ({ check_type: type, provider }) => `check of a ${type} via ${provider}`,
  });
  return {
    store,
    starter,
    providerCalls: createIdentityCheckCalls({ providers, sealing }),
    waiter: completionWaiters.create({ findEnded: (owned) => store.findEnded(owned) }),
    create: createIdentityCheckCreation({
      groupCommit,
      starter,
      sealing,
      provider: providers.forIdentity,
    }),
    idle: starter.idle,
  };
}

/** The capability `identity-checks`: a provider compares a customer's data with a registry. */
export const identityCheckCapability = defineCapability({
  name: 'identity-checks',
  servedBy: 'identity',
  collections: [identityChecks],
  erased: [
    erasedRecords({
      collection: identityChecks,
      label: 'open identity checks',
      by: { field: 'customer_id' },
      isOpen: isInstructionOpen,
      erased: () => ({ sealed: null, last4: '', number_index: '' }),
    }),
  ],
  operations: identityCheckOperations,
  events: identityCheckEvents,
  audit: auditIdentityChecks,
  create: createIdentityCheckParts,
  routes: identityCheckRoutes,
  providerEvents: identityCheckEventHandler,
  supervised: (deps: { identityChecks: IdentityCheckParts }) => ({
    identity_checks: supervised(deps.identityChecks.store, deps.identityChecks.starter),
  }),
  instruction: {
    labels: { record: 'check', provider: identityCheckContract.labels.provider },
    records: (deps: { identityChecks: IdentityCheckParts }) => deps.identityChecks,
    presentRow: presentCheckRow,
    presentDetails: presentCheckDetails,
  },
});
