import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';
import { TEMPORAL_DEADLINE_MS } from '../../platform/temporal/client.js';
import { searchAttributes } from '../../platform/temporal/search-attributes.js';
import type { Delivery } from './event.js';
import { deliveryWorkflowId } from './workflow-contract.js';
import { webhooksQueue } from '../../platform/temporal/queues.js';

/** Paced, so that an endpoint that fails is no flood for Temporal. */
const MAX_STARTING = 20;
const MAX_WAITING = 2_000;

/** A delivery that its workflow takes over. */
export type Start = { delivery: Delivery; attemptCount: number; afterMs: number };
/** Starts the workflows of deliveries. */
export type DeliveryStarter = ReturnType<typeof createDeliveryStarter>;

/** Starts the workflow that retries a delivery. Starting one that runs does nothing. */
export function createDeliveryStarter(settings: {
  client: Client;
  taskQueue: string;
  /** The pauses between attempts; after the one that follows the last pause a delivery is dead. */
  scheduleMs: number[];
  stallTimeoutMs: number;
  log: Log;
}) {
  const { client, taskQueue, scheduleMs, stallTimeoutMs, log } = settings;
  const queue: Start[] = [];
  const starting = new Set<Promise<void>>();

  async function start({ delivery, attemptCount, afterMs }: Start): Promise<void> {
    failpoint('start.before');
    await client.connection.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.workflow.start('webhookDelivery', {
        workflowId: deliveryWorkflowId(delivery._id),
        taskQueue: webhooksQueue(taskQueue),
        args: [{ id: delivery._id, attemptCount, afterMs, scheduleMs }],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        typedSearchAttributes: [{ key: searchAttributes.tenantId, value: delivery.tenant_id }],
        staticSummary: `${delivery.name} of ${delivery.resource_id} to ${delivery.endpoint_id}`,
      }),
    );
    failpoint('start.after');
  }

  function pump(): void {
    while (starting.size < MAX_STARTING) {
      const next = queue.shift();
      if (!next) return;
      const attempt = start(next)
        .catch((error: unknown) => {
          log.warn({ err: error, delivery: next.delivery._id }, 'retries left to recovery');
        })
        .finally(() => {
          starting.delete(attempt);
          pump();
        });
      starting.add(attempt);
    }
  }

  return {
    start,

    /**
     * The next check after this number of attempts, and the start of the workflow.
     * Both are null after the last attempt.
     */
    plan(delivery: Delivery, attemptCount: number): { nextAt: Date | null; start: Start | null } {
      const afterMs = attemptCount === 0 ? 0 : scheduleMs[attemptCount - 1];
      if (afterMs === undefined) return { nextAt: null, start: null };
      const nextAt = new Date(Date.now() + afterMs + stallTimeoutMs);
      return { nextAt, start: { delivery, attemptCount, afterMs } };
    },

    /** Starts in the background. A delivery whose start fails becomes overdue, and recovery starts it. */
    startSoon(wanted: Start): void {
      if (queue.length >= MAX_WAITING) return;
      queue.push(wanted);
      pump();
    },

    /** Ends a run that sleeps towards a time that no longer counts. */
    async supersede(id: string): Promise<void> {
      try {
        await client.connection.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
          client.workflow
            .getHandle(deliveryWorkflowId(id))
            .terminate('delivered again by an operator'),
        );
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },

    /** Starts no more and waits for starts in flight; recovery makes the others. */
    async stop(): Promise<void> {
      queue.length = 0;
      await Promise.all(starting);
    },
  };
}
