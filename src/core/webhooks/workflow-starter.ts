import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';
import { TEMPORAL_DEADLINE_MS } from '../../platform/temporal/client.js';
import { searchAttributes } from '../../platform/temporal/search-attributes.js';
import type { EndpointState } from './endpoint-state.js';
import {
  DELIVERY_ROUNDS,
  deliveryWorkflowId,
  type WebhookDeliveryInput,
} from './workflow-contract.js';
import { webhooksQueue } from '../../platform/temporal/queues.js';

/** Workflows of endpoints that are started or woken at once. */
const MAX_STARTING = 20;
/** A process wakes the workflow of one endpoint at most once in this time, however many deliveries fail. */
const APART_MS = 1_000;

/** Starts and wakes the workflows of endpoints. */
export type DeliveryStarter = ReturnType<typeof createDeliveryStarter>;

/** Starts the workflow that delivers what waits for an endpoint, or wakes it if it runs. */
export function createDeliveryStarter(settings: {
  client: Client;
  taskQueue: string;
  state: EndpointState;
  stallTimeoutMs: number;
  log: Log;
}) {
  const { client, taskQueue, state, stallTimeoutMs, log } = settings;
  async function wake(id: string, always: boolean): Promise<void> {
    failpoint('start.before');
    const opened = await state.open(id, new Date(Date.now() + stallTimeoutMs));
    // The workflow of an endpoint that is not enabled cancels what waits, and ends.
    const before = opened ?? (always ? await state.get(id) : null);
    if (!before) return;
    // The workflow of a failing endpoint makes its next attempt when that is due, whatever else comes to wait.
    if (before.next_check_at && before.failing && !always) return;
    const input: WebhookDeliveryInput = { id, rounds: DELIVERY_ROUNDS };
    await client.connection.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.workflow.signalWithStart('webhookDelivery', {
        workflowId: deliveryWorkflowId(id),
        taskQueue: webhooksQueue(taskQueue),
        args: [input],
        signal: 'recordChanged',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        typedSearchAttributes: [{ key: searchAttributes.tenantId, value: before.tenant_id }],
        staticSummary: `deliveries to ${id}`,
      }),
    );
    failpoint('start.after');
  }

  const wakes = createWakes(wake, (id, error) => {
    log.warn(
      { err: error, resource: id, workflow_id: deliveryWorkflowId(id) },
      'deliveries left to recovery',
    );
  });

  return {
    /**
     * Starts or wakes the workflow of an endpoint in the background. If that fails, the endpoint or its deliveries become
     * overdue, and recovery does it. `always`: also if the endpoint is failing and its workflow sleeps.
     */
    wakeSoon(endpoint: string, { always = false } = {}): void {
      wakes.soon(endpoint, always);
    },

    /** Wakes the workflow of an endpoint that is gone, so that it ends. */
    async wakeIfRunning(endpoint: string): Promise<void> {
      try {
        await client.connection.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
          client.workflow.getHandle(deliveryWorkflowId(endpoint)).signal('recordChanged'),
        );
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return;
        log.warn(
          { err: error, resource: endpoint, workflow_id: deliveryWorkflowId(endpoint) },
          'the workflow of a removed endpoint ends later',
        );
      }
    },

    /** Starts no more and waits for starts in flight; recovery makes the others. */
    stop: () => wakes.stop(),
  };
}

/** Wakes endpoints in the background: several at once, and each one now and then. */
function createWakes(
  wake: (id: string, always: boolean) => Promise<void>,
  onError: (id: string, error: unknown) => void,
) {
  /** Endpoints to wake, and whether even one that is known to be failing. */
  const wanted = new Map<string, boolean>();
  /** Endpoints that are being woken, or were within `APART_MS`. */
  const recent = new Set<string>();
  const starting = new Set<Promise<void>>();
  let stopped = false;

  function start(id: string, always: boolean): void {
    wanted.delete(id);
    recent.add(id);
    const attempt = wake(id, always)
      .catch((error: unknown) => onError(id, error))
      .finally(() => {
        starting.delete(attempt);
        setTimeout(() => {
          recent.delete(id);
          pump();
        }, APART_MS).unref();
        pump();
      });
    starting.add(attempt);
  }

  function pump(): void {
    for (const [id, always] of wanted) {
      if (starting.size >= MAX_STARTING) return;
      if (!recent.has(id)) start(id, always);
    }
  }

  return {
    soon(id: string, always: boolean): void {
      if (stopped) return;
      wanted.set(id, always || wanted.get(id) === true);
      pump();
    },
    async stop(): Promise<void> {
      stopped = true;
      wanted.clear();
      await Promise.all(starting);
    },
  };
}
