/** What crosses Temporal: an id and times. No address, body or secret may be added here: histories keep it. */
export type WebhookDeliveryInput = {
  id: string;
  /** Attempts that were made already. */
  tries: number;
  /** The pause before the first attempt of this run. */
  afterMs: number;
  /** The pauses after the first failed attempt, the second, and so on. Set at the start: a replay reads no settings. */
  scheduleMs: number[];
};

/** What an attempt came to. */
export type WebhookDeliveryResult =
  | { kind: 'delivered' }
  | { kind: 'failed' }
  /** Not even tried: too many attempts at this endpoint are under way. Uses up no try. */
  | { kind: 'busy'; afterMs: number }
  /** Nothing is left to do. */
  | { kind: 'closed' };

/** The workflow that retries this delivery. */
export const deliveryWorkflowId = (id: string) => `webhook-delivery/${id}`;
