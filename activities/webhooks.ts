import type { WebhookDeliveryResult } from '../src/core/webhooks/workflow-contract.js';

export type WebhookActivityDeps = {
  webhooks: { retry(id: string, nextMs: number | null): Promise<WebhookDeliveryResult> };
};

export function createWebhookActivities({ webhooks }: WebhookActivityDeps) {
  return {
    /**
     * One attempt, written down with the time of the next (`nextMs` from now; null: this was the last). What the
     * receiver does is an answer and never a failure: only our own store can make this fail, and then it is repeated.
     */
    deliverWebhook: ({ id, nextMs }: { id: string; nextMs: number | null }) =>
      webhooks.retry(id, nextMs),
  };
}
