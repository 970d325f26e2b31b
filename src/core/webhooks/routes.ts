import { callerOf } from '../../platform/http/context.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { rangeOf } from '../../platform/http/wire.js';
import { ApiError } from '../../shared/errors.js';
import { getEvent, listEvents } from './api.js';
import type { Deliveries } from './deliveries.js';
import type { StoredEvent } from './event.js';
import { presentEvent } from './presenter.js';

/** The routes on which tenants read the events that were sent to them. */
export function eventRoutes({
  webhooks: { deliveries },
}: {
  webhooks: { deliveries: Pick<Deliveries, 'listEvents' | 'getEvent' | 'ofEvents'> };
}): Route[] {
  async function present(tenantId: string, events: StoredEvent[]) {
    const all = await deliveries.ofEvents(tenantId, events);
    return events.map((event) =>
      presentEvent(
        event,
        all.filter((delivery) => delivery.event_id === event._id),
      ),
    );
  }

  return [
    route(listEvents, async (ctx, { query }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const { page, limit, event: name } = query;
      const listing = { page, limit, name, ...rangeOf(query) };
      const { items, total } = await deliveries.listEvents(tenantId, listing);
      sendList(ctx, await present(tenantId, items), { page, limit, total });
    }),

    route(getEvent, async (ctx, { params }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const event = await deliveries.getEvent(tenantId, params.id);
      if (!event) throw new ApiError('not_found');
      sendData(ctx, 200, (await present(tenantId, [event]))[0]);
    }),
  ];
}
