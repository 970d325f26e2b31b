import { readsOn, type ObserveClaims, type Refused } from '../../platform/database/claims.js';
import type { Log } from '../../shared/log.js';
import { logIdsOf } from '../supervision/attention-log.js';
import type { Deliverer } from './deliverer.js';
import type { Deliveries } from './deliveries.js';
import type { EndpointState } from './endpoint-state.js';
import type { Delivery } from './event.js';
import type { DeliveryStarter } from './workflow-starter.js';

/** The number of deliveries and endpoints that were taken over, and whether more may be due. */
export type Recovered = { found: number; more: boolean };

/**
 * Recovers deliveries whose process died between commit and delivery, and endpoints whose workflow is gone. Several workers
 * may recover at once: what one has claimed is left to it.
 */
export function createRecovery(deps: {
  deliveries: Deliveries;
  state: EndpointState;
  deliverer: Deliverer;
  starter: DeliveryStarter;
  /** The time until which claimed deliveries belong to this run. */
  leaseEnd: () => Date;
  log: Log;
}) {
  const { deliveries, state, deliverer, starter, leaseEnd, log } = deps;

  async function deliverPending(pending: readonly Delivery[]): Promise<void> {
    const events = await deliveries.eventsOf(pending);
    deliverer.deliverSoon(
      pending.flatMap((delivery) => {
        const event = events.get(delivery.event_id);
        return event ? [{ delivery, body: event.body }] : [];
      }),
    );
    // An event that retention removed during a redelivery has no body left to send.
    const empty = pending.filter(({ event_id: event }) => !events.has(event));
    await cancel(empty);
  }

  /** A process may write a delivery that waits at the moment at which the workflow of the endpoint ends. */
  async function ensureWorkflows(waiting: readonly Delivery[]): Promise<void> {
    if (waiting.length === 0) return;
    const ids = new Set(waiting.map(({ endpoint_id: endpoint }) => endpoint));
    const listening = await state.ensureWorkflows([...ids]);
    await deliveries.checked(waiting.filter(({ endpoint_id: id }) => listening.has(id)));
    await cancel(waiting.filter(({ endpoint_id: id }) => !listening.has(id)));
  }

  const cancel = async (all: readonly Delivery[]) =>
    void (await Promise.all(all.map((of) => deliveries.record({ of, kind: 'cancelled' }))));

  function logRefused(refused: readonly Refused[] | undefined, message: string): void {
    for (const one of refused ?? []) log.error(logIdsOf(one), message);
  }

  return async (limit: number, observe: ObserveClaims): Promise<Recovered> => {
    const page = await deliveries.claimDue(limit, leaseEnd());
    const { claimed: due, expired } = page;
    logRefused(page.refused, 'delivery refused by its validator, it is not attempted');
    observe('webhook_deliveries', { claimed: due.length, expired });
    const pending = due.filter(({ status }) => status === 'pending');
    await deliverPending(pending);
    await ensureWorkflows(due.filter(({ status }) => status === 'retrying'));
    const endpoints = await state.claimDue(limit, leaseEnd());
    logRefused(endpoints.refused, 'endpoint refused by its validator, its workflow is not started');
    observe('webhook_endpoints', { claimed: endpoints.claimed.length, expired: endpoints.expired });
    for (const { _id } of endpoints.claimed) starter.wakeSoon(_id, { always: true });
    const more = readsOn(page) || readsOn(endpoints);
    return { found: pending.length + endpoints.claimed.length, more };
  };
}
