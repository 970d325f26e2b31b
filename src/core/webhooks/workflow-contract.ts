/** Rounds of one run of `webhookDelivery`, which then continues as new: its history has fewer than 3,000 events. */
export const DELIVERY_ROUNDS = 250;

/** Input of `webhookDelivery`. Histories keep it: no address, body or secret may be added. */
export type WebhookDeliveryInput = {
  /** The endpoint's id. */
  id: string;
  /** `DELIVERY_ROUNDS` of the version that started the run. Older runs have none. */
  rounds?: number;
};

/** Result of a round of attempts to deliver what waits for an endpoint. */
export type WebhookDeliveryResult =
  /** The next round is due after this time, or when the run is woken. */
  | { kind: 'waiting'; afterMs: number }
  /** Nothing waits, or the endpoint is parked, disabled or removed. */
  | { kind: 'closed' };

/** Id of the workflow that delivers what waits for this endpoint. */
export const deliveryWorkflowId = (endpoint: string) => `webhook-delivery/${endpoint}`;
