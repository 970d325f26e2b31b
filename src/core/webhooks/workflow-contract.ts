/** Input of `webhookDelivery`. Histories keep it: no address, body or secret may be added. */
export type WebhookDeliveryInput = {
  id: string;
  /** Attempts made so far. */
  attemptCount: number;
  /** Pause before the first attempt of this run. */
  afterMs: number;
  /** Pauses after the first failed attempt, the second, and so on. Set at the start, because a replay reads no settings. */
  scheduleMs: number[];
};

/** Result of one attempt to deliver a webhook. */
export type WebhookDeliveryResult =
  | { kind: 'delivered' }
  | { kind: 'failed' }
  /** Not attempted, because too many attempts to this endpoint are in flight. Uses up no attempt. */
  | { kind: 'busy'; afterMs: number }
  /** Delivered or cancelled meanwhile: no attempt is left to make. */
  | { kind: 'closed' };

/** Id of the workflow that retries this delivery. */
export const deliveryWorkflowId = (id: string) => `webhook-delivery/${id}`;
