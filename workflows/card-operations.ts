import type { OperationInput } from '../src/capabilities/cards/workflow-contract.js';
import { localActivities } from './local-activities.js';
import { ownStore } from './policies.js';

const store = localActivities(ownStore);

/** What the pursuits of all operations on cards have in common. */
export const operationExecution = ({
  tenantId,
  id,
  rateLimitKey,
  acceptedAtMs,
  policy,
}: OperationInput) => ({
  ref: { tenantId, id },
  rateLimitKey,
  acceptedAtMs,
  policy,
});

export const operationActivities = {
  readInstructionStatus: store.readCardInstructionStatus,
  recordOperatorCommand: store.recordCardOperatorCommand,
  raiseAttention: store.raiseCardAttention,
  recordCancellationRequest: store.recordCardCancellationRequest,
};
