import type { Client } from '@temporalio/client';
import type { Log } from '../../shared/log.js';
import { bulkTransfersQueue } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type WorkflowStarter,
} from '../../core/supervision/workflow-starter.js';
import { bulkTransferWorkflowId, type BulkTransfer } from './bulk-transfer.js';
import type { BulkTransferInput } from './workflow-contract.js';

/** A batch takes no commands and is not woken. */
export type BulkTransferStarter = Pick<
  WorkflowStarter<BulkTransfer>,
  'start' | 'startSoon' | 'idle'
>;

/** Starts the workflow that lets a batch out. */
export function createBulkTransferStarter(settings: {
  client: Client;
  taskQueue: string;
  log: Log;
}): BulkTransferStarter {
  return createWorkflowStarter<BulkTransfer>({
    ...settings,
    workflow: 'bulkTransfer',
    workflowId: ({ _id }) => bulkTransferWorkflowId(_id),
    toStart({ _id: id, tenant_id: tenantId, provider, items }) {
      const count = items.length;
      const taskQueue = bulkTransfersQueue(settings.taskQueue, provider);
      const input: BulkTransferInput = { id, tenantId, count, taskQueue };
      const summary = `${count} transfers via ${provider}`;
      return { input, tenantId, provider, reference: id, amountMinor: null, summary };
    },
  });
}
