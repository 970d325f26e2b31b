/** An event as a mutation emits it. Plain data. */
export type EventDraft = {
  tenantId: string;
  /** The id of what changed. */
  resource: string;
  /** The name of the event, for example `transfer.completed`. */
  name: string;
  /** 1, 2, 3 … for each resource, also without an endpoint. Receivers recognise late events by it. */
  sequence: number;
  at: Date;
  /** The resource as clients see it, at that moment. */
  data: object;
};

/** The name of the test event that an operator sends. */
export const PING = 'endpoint.ping';

/** The body of an event: made once, so that every attempt and every endpoint gets the same bytes. */
export function eventBody(id: string, draft: EventDraft): string {
  return JSON.stringify({
    id,
    event: draft.name,
    // The name of this field in Standard Webhooks.
    type: draft.name,
    created_at: draft.at.toISOString(),
    sequence: draft.sequence,
    data: draft.data,
  });
}

/**
 * The statuses of a delivery. `pending`: the first attempt is in flight, by the process that wrote the event or by
 * recovery. `retrying`: it waits for its endpoint, whose workflow makes the next attempts. `dead`: the last attempt
 * failed. `cancelled`: the endpoint was removed or switched off. An operator can redeliver the last two.
 */
export const DELIVERY_STATUSES = ['pending', 'retrying', 'delivered', 'dead', 'cancelled'] as const;

/** The status of a delivery. */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One attempt: the status of the answer and its duration, never its body. */
export type Attempt = {
  at: Date;
  /** Null where there was no answer. */
  status: number | null;
  error: AttemptError | null;
  duration_ms: number;
};

/** The reason of a failed attempt. */
export type AttemptError =
  | 'timeout'
  | 'connection'
  | 'name_not_resolved'
  /** The address is not allowed for endpoints. */
  | 'address_refused'
  /** The signing secret was sealed under another pepper. */
  | 'secret_unreadable'
  /** An answer other than 2xx; redirects too, which are never followed. */
  | 'refused';

/** An event as it is kept, with the very bytes that are signed. */
export type StoredEvent = {
  _id: string;
  tenant_id: string;
  resource_id: string;
  name: string;
  sequence: number;
  body: string;
  created_at: Date;
};

/** The way of one event to one endpoint. */
export type Delivery = {
  _id: string;
  tenant_id: string;
  endpoint_id: string;
  event_id: string;
  name: string;
  resource_id: string;
  sequence: number;
  status: DeliveryStatus;
  /** Attempts since the event, or since the last redelivery by an operator. */
  attempt_count: number;
  attempts: Attempt[];
  /** The time of the next check by recovery; null if the delivery has ended. */
  next_check_at: Date | null;
  /** While it is `retrying`: its place in the queue of its endpoint, and the earliest time of its next attempt. */
  retry_at: Date | null;
  created_at: Date;
  /** The first time that it was taken. */
  delivered_at?: Date;
  /** The number of redeliveries by an operator. Attempts that began before the last one do not count. */
  redeliveries: number;
};
