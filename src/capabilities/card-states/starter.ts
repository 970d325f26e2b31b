import { isOpen } from '../../core/instructions/instruction.js';
import { issuerRateLimitKey, providerQueue } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type InstructionStarterSettings,
  type WorkflowStarter,
} from '../../core/supervision/workflow-starter.js';
import {
  operationWorkflowId,
  type CardOperation,
  type OperationKey,
} from '../cards/card-operation.js';
import type { CardStateInput } from './workflow-contract.js';

/**
 * Starts and wakes the workflow of a card, which looks for what is under way by itself. So a command about an operation
 * that has ended must not reach it: it would be taken for one about another.
 */
export function createControlStarter(
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
