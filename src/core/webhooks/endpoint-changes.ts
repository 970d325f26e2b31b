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
    async removeEndpoint(id: string): Promise<boolean> {
      const isRemoved = await endpoints.remove(id);
      if (isRemoved) await starter.wakeIfRunning(id);
      return isRemoved;
    },

    disableEndpoint: (id: string): Promise<boolean> => state.disable(id),

    /**
     * Enables an endpoint that is parked or disabled. What waits for it is sent, and what died since it began to fail. Works
     * without Temporal: recovery starts the workflow within about a second. False if there is no such endpoint.
     */
    async resumeEndpoint(id: string): Promise<boolean> {
      const before = await state.get(id);
      if (before?.failing) await deliveries.revive(before, before.failing.since);
      if (before) await deliveries.makeDue(before);
      return state.enable(id);
    },
  };
}
