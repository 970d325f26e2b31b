import type { WebhookDeliveryResult } from '../src/core/webhooks/workflow-contract.js';

export type WebhookActivityDeps = {
  webhooks: { retry(id: string, nextMs: number | null): Promise<WebhookDeliveryResult> };
};

/** The activity of webhook deliveries. Its name is in histories, so it never changes. */
export function createWebhookActivities({ webhooks }: WebhookActivityDeps) {
  return {
    /**
     * Makes one attempt and records it with the time of the next one (`nextMs` from now; null after the last). A
     * receiver's error is a result. The activity fails only if our database fails, and Temporal then retries it.
     */
    deliverWebhook: ({ id, nextMs }: { id: string; nextMs: number | null }) =>
      webhooks.retry(id, nextMs),
  };
}
