import { isOpen } from '../../core/instructions/instruction.js';
import { issuerRateLimitKey, providerQueue } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type InstructionStarterSettings,
  type WorkflowStarter,
} from '../../core/supervision/workflow-starter.js';
import type { CardOperation } from '../cards/card-operation.js';
import { operationWorkflowId, type OperationKey } from '../cards/workflow-contract.js';
import type { CardStateInput } from './workflow-contract.js';

/**
 * Starts, wakes and commands the workflow of a card's state. The workflow applies commands to its current operation, so
 * commands for an operation that has ended are refused here.
 */
export function createCardStateStarter(
  settings: InstructionStarterSettings,
): WorkflowStarter<CardOperation, OperationKey> {
  const { taskQueue, policy } = settings;
  const starter = createWorkflowStarter<CardOperation, OperationKey>({
    ...settings,
    workflow: 'cardState',
    workflowId: operationWorkflowId,
    entity: true,
    toStart({ tenant_id: tenantId, card_id: cardId, provider }) {
      const rateLimitKey = issuerRateLimitKey(provider);
      const queue = providerQueue(taskQueue, rateLimitKey);
      const input: CardStateInput = { tenantId, cardId, rateLimitKey, taskQueue: queue, policy };
      const summary = `card state of ${cardId} at ${provider}`;
      return { input, tenantId, provider, reference: cardId, amountMinor: null, summary };
    },
  });
  return {
    ...starter,
    command: async (operation, kind, payload) =>
      isOpen(operation)
        ? starter.command(operation, kind, payload)
        : { done: false, message: `The ${operation.type} is ${operation.status} already.` },
  };
}
