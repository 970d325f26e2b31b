import { LRUCache } from 'lru-cache';
import type { Deliveries } from './deliveries.js';
import type { EndpointState, Failing } from './endpoint-state.js';
import type { Endpoints } from './endpoints.js';
import type { Delivery } from './event.js';
import type { EndpointKey } from './waiting.js';
import type { DeliveryStarter } from './workflow-starter.js';

/** A success of one endpoint is noted at most once in this time by a process. */
const NOTED_EVERY_MS = 1_000;
const MAX_REMEMBERED = 10_000;
/** After a failure of at least this time, deliveries do not wait for their own next attempt. */
const LONG_FAILURE_MS = 5 * 60 * 1000;

/** Notes that an endpoint has taken a delivery outside its workflow. */
export type NoteAnswer = (delivery: Delivery) => Promise<void>;
/** Ends the failure of an endpoint that answers. False if it did not fail. */
export type EndFailure = (endpoint: EndpointKey, now: Date) => Promise<boolean>;

/**
 * After a long failure everything that waits is due at once. After a short one the deliveries that were refused keep their
 * own times, which are minutes apart at most, so that an endpoint that answers now and then does not use them up.
 */
export function createEndFailure(deps: {
  state: EndpointState;
  deliveries: Pick<Deliveries, 'makeDue'>;
}): EndFailure {
  const { state, deliveries } = deps;
  const isLong = (failing: Failing, now: Date) =>
    now.getTime() - failing.since.getTime() >= LONG_FAILURE_MS;
  return async (endpoint, now) => {
    const failing = await state.answered(endpoint._id);
    if (failing && isLong(failing, now)) await deliveries.makeDue(endpoint);
    return failing !== null;
  };
}

/** Wakes the workflow of an endpoint that answers again. For others the success is a note, which the workflow reads. */
export function createNoteAnswer(deps: {
  endpoints: Pick<Endpoints, 'listener'>;
  endFailure: EndFailure;
  starter: DeliveryStarter;
}): NoteAnswer {
  const { endpoints, endFailure, starter } = deps;
  const noted = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: NOTED_EVERY_MS });
  return async ({ tenant_id: tenantId, endpoint_id: id }) => {
    if (noted.has(id)) return;
    const endpoint = await endpoints.listener(tenantId, id);
    if (!endpoint || endpoint.isParked) return;
    if (!endpoint.hasWorkflow && !endpoint.isFailing) return;
    noted.set(id, true);
    const failed = await endFailure({ tenant_id: tenantId, _id: id }, new Date());
    if (failed) starter.wakeSoon(id, { always: true });
  };
}
