import type { MakeAttempt } from './attempts.js';
import type { Deliveries } from './deliveries.js';
import type { Delivery } from './event.js';
import type { WebhookDeliveryResult } from './workflow-contract.js';

/** Retries under way at once to one endpoint; the others come back a little later, and not all together. */
const MAX_RETRYING = 32;
const BUSY_MS = 15_000;

/** Makes an attempt for a delivery's workflow and writes it down. */
export function createRetry(deps: {
  deliveries: Deliveries;
  attempt: MakeAttempt;
  stallTimeoutMs: number;
}) {
  const { deliveries, attempt, stallTimeoutMs } = deps;
  const underWay = new Map<string, number>();

  async function tryOnce(
    delivery: Delivery,
    nextMs: number | null,
  ): Promise<WebhookDeliveryResult> {
    const of = delivery;
    const event = await deliveries.event(delivery.event_id);
    const result = event ? await attempt(delivery, event.body) : 'no_endpoint';
    if (result === 'no_endpoint') {
      await deliveries.record({ of, kind: 'cancelled' });
      return { kind: 'closed' };
    }
    if (result.error === null) {
      await deliveries.record({ of, kind: 'delivered', attempt: result });
      return { kind: 'delivered' };
    }
    const nextAt = nextMs === null ? null : new Date(Date.now() + nextMs + stallTimeoutMs);
    await deliveries.record({ of, kind: 'failed', attempt: result, nextAt });
    return { kind: 'failed' };
  }

  /** `nextMs` is the workflow's next pause; null makes this the last attempt. */
  return async (id: string, nextMs: number | null): Promise<WebhookDeliveryResult> => {
    const delivery = await deliveries.get(id);
    if (!delivery || delivery.status !== 'retrying') return { kind: 'closed' };
    const { endpoint_id: endpoint } = delivery;
    const others = underWay.get(endpoint) ?? 0;
    if (others >= MAX_RETRYING) {
      return { kind: 'busy', afterMs: Math.round(BUSY_MS * (1 + Math.random())) };
    }
    underWay.set(endpoint, others + 1);
    try {
      return await tryOnce(delivery, nextMs);
    } finally {
      const left = (underWay.get(endpoint) ?? 1) - 1;
      if (left === 0) underWay.delete(endpoint);
      else underWay.set(endpoint, left);
    }
  };
}
