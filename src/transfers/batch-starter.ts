import type { Client } from '@temporalio/client';
import type { Log } from '../log.js';
import { TEMPORAL_DEADLINE_MS } from '../temporal/client.js';
import { batchWorkflowId, type TransferBatch } from './batch.js';
import type { TransferBatchInput } from './reports.js';
import { searchAttributes } from './search-attributes.js';
import { bulkQueue } from './starter.js';

export type BatchStarter = ReturnType<typeof createBatchStarter>;

/** Starts the workflow that lets a batch out. Starting one that runs does nothing. */
export function createBatchStarter({
  client,
  taskQueue,
  log,
}: {
  client: Client;
  taskQueue: string;
  log: Log;
}) {
  const starting = new Set<Promise<void>>();

  async function start(batch: TransferBatch): Promise<void> {
    const { _id: id, tenant, provider } = batch;
    const count = batch.items.length;
    const input: TransferBatchInput = { id, tenant, count, queue: bulkQueue(taskQueue, provider) };
    await client.connection.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.workflow.start('transferBatch', {
        workflowId: batchWorkflowId(id),
        taskQueue,
        args: [input],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        typedSearchAttributes: [
          { key: searchAttributes.tenant, value: tenant },
          { key: searchAttributes.provider, value: provider },
          { key: searchAttributes.reference, value: id },
          { key: searchAttributes.attention, value: false },
        ],
        staticSummary: `${count} transfers by ${provider}`,
      }),
    );
  }

  return {
    start,

    /** Starts without being waited for. A start that fails is made up for by the dispatcher. */
    startSoon(batch: TransferBatch): void {
      const attempt = start(batch)
        .catch((error: unknown) => {
          log.warn({ err: error, batch: batch._id }, 'batch not started, left to the dispatcher');
        })
        .finally(() => starting.delete(attempt));
      starting.add(attempt);
    },

    idle: async () => void (await Promise.all(starting)),
  };
}
