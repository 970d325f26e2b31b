import type {
  WebhookDeliveryInput,
  WebhookDeliveryResult,
} from '../src/core/webhooks/workflow-contract.js';

/** Parts that the activity of webhook deliveries needs. */
export type WebhookActivityDeps = {
  webhooks: { deliverWaiting(endpoint: string): Promise<WebhookDeliveryResult> };
};

/** The activity of webhook deliveries. Its name is in histories, so it never changes. */
export function createWebhookActivities({ webhooks }: WebhookActivityDeps) {
  return {
    /**
     * Makes a round of attempts to deliver what waits for an endpoint, and answers when the next one is due. A receiver's
     * error is a result. The activity fails only if our database fails, and Temporal then retries it.
     */
    deliverWebhooks: ({ id }: WebhookDeliveryInput) => webhooks.deliverWaiting(id),
  };
}
