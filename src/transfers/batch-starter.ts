import type { Client } from '@temporalio/client';
import type { Log } from '../log.js';
import { bulkQueue } from '../temporal/queues.js';
import { createRecordStarter, type RecordStarter } from '../temporal/record-starter.js';
import { batchWorkflowId, type TransferBatch } from './batch.js';
import type { TransferBatchInput } from './reports.js';

/** A batch takes no commands and is not woken. */
export type BatchStarter = Pick<RecordStarter<TransferBatch>, 'start' | 'startSoon' | 'idle'>;

/** Starts the workflow that lets a batch out. */
export function createBatchStarter(settings: {
  client: Client;
  taskQueue: string;
  log: Log;
}): BatchStarter {
  return createRecordStarter<TransferBatch>({
    ...settings,
    workflow: 'transferBatch',
    workflowId: ({ _id }) => batchWorkflowId(_id),
    toStart({ _id: id, tenant, provider, items }) {
      const count = items.length;
      const queue = bulkQueue(settings.taskQueue, provider);
      const input: TransferBatchInput = { id, tenant, count, queue };
      const summary = `${count} transfers by ${provider}`;
      return { input, tenant, provider, reference: id, amountMinor: null, summary };
    },
  });
}
