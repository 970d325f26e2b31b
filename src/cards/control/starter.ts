import { isOpen } from '../../pursuits/record.js';
import { issuerCalls, providerQueue } from '../../temporal/queues.js';
import {
  createRecordStarter,
  type PursuitStarterSettings,
  type RecordStarter,
} from '../../temporal/record-starter.js';
import { operationWorkflowId, type CardOperation, type OperationKey } from '../operation.js';
import type { CardControlInput } from '../reports.js';

/**
 * Starts and wakes the workflow of a card, which looks for what is under way by itself. So a command about an operation
 * that has ended must not reach it: it would be taken for one about another.
 */
export function createControlStarter(
  settings: PursuitStarterSettings,
): RecordStarter<CardOperation, OperationKey> {
  const { taskQueue, policy } = settings;
  const starter = createRecordStarter<CardOperation, OperationKey>({
    ...settings,
    workflow: 'cardControl',
    workflowId: operationWorkflowId,
    entity: true,
    toStart({ tenant, card, provider }) {
      const calls = issuerCalls(provider);
      const queue = providerQueue(taskQueue, calls);
      const input: CardControlInput = { tenant, card, calls, queue, policy };
      const summary = `how ${card} stands at ${provider}`;
      return { input, tenant, provider, reference: card, amountMinor: null, summary };
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
