import type { ClientSession } from 'mongodb';
import type { Deliveries } from './deliveries.js';
import type { EndpointState } from './endpoint-state.js';
import type { Endpoints } from './endpoints.js';
import type { DeliveryStarter } from './workflow-starter.js';

/** Changes of endpoints by operators that concern deliveries, too. */
export function createEndpointChanges({
  endpoints,
  deliveries,
  state,
  starter,
}: {
  endpoints: Endpoints;
  deliveries: Deliveries;
  state: EndpointState;
  starter: DeliveryStarter;
}) {
  return {
    /** Removes an endpoint; its workflow ends and cancels what waits. False if there is none. */
    async removeEndpoint(id: string, within: Within = alone): Promise<boolean> {
      const isRemoved = await within((session) => endpoints.remove(id, session));
      if (isRemoved) await starter.wakeIfRunning(id);
      return isRemoved;
    },

    disableEndpoint: (id: string, within: Within = alone): Promise<boolean> =>
      within((session) => state.disable(id, session)),

    /**
     * Enables an endpoint that is parked or disabled. What waits for it is sent, and what died since it began to fail.
     * That may be more than a transaction takes, so these are several writes, which a repeat completes. Works without
     * Temporal: recovery starts the workflow within about a second. False if there is no such endpoint.
     */
    async resumeEndpoint(id: string): Promise<boolean> {
      const before = await state.get(id);
      if (before?.failing) await deliveries.revive(before, before.failing.since);
      if (before) await deliveries.makeDue(before);
      return state.enable(id);
    },
  };
}

/** Runs the change of an endpoint's document, such as in the transaction of an operator's act. */
export type Within = (change: (session?: ClientSession) => Promise<boolean>) => Promise<boolean>;

const alone: Within = (change) => change();
