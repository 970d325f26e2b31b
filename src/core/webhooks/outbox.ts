import type { ClientSession } from 'mongodb';
import type { Health } from './attempts.js';
import type { Deliverer } from './deliverer.js';
import { toOutgoing, type Deliveries, type Outgoing } from './deliveries.js';
import type { Endpoints, Listener } from './endpoints.js';
import type { EventDraft } from './event.js';
import type { DeliveryStarter } from './workflow-starter.js';

/** Converts the events of a commit to the documents that it writes. */
export type Outbox = {
  /** True if this tenant has an endpoint, so that its events are written. */
  hasSubscribers(tenantId: string): Promise<boolean>;
  /** The documents of the events that an endpoint takes at this moment. */
  address(drafts: readonly EventDraft[]): Promise<Outgoing[]>;
  /** Writes them, within the transaction that makes the change. */
  write(outgoing: readonly Outgoing[], session: ClientSession): Promise<void>;
  /** After the commit: their first deliveries, not waited for. */
  send(outgoing: readonly Outgoing[]): void;
};

/** The outbox of commits without webhooks, for example in tests. */
export const noOutbox: Outbox = {
  hasSubscribers: async () => false,
  address: async () => [],
  write: async () => undefined,
  send: () => undefined,
};

/** The outbox of a process that delivers what it writes. */
export function createOutbox({
  endpoints,
  deliveries,
  deliverer,
  health,
  starter,
  leaseEnd,
}: {
  endpoints: Endpoints;
  deliveries: Deliveries;
  deliverer: Deliverer;
  health: Health;
  starter: DeliveryStarter;
  /** Until when a delivery that is written now belongs to this process. */
  leaseEnd: () => Date;
}): Outbox {
  // Of what comes for an endpoint that does not answer, only a probe now and then is sent at once.
  const waits = ({ id, isParked }: Listener) => isParked || !health.wouldTry(id);

  return {
    hasSubscribers: endpoints.hasSubscribers,
    async address(drafts) {
      const listeners = await endpoints.listenersOf(drafts.map(({ tenantId }) => tenantId));
      const dueAt = leaseEnd();
      return drafts.flatMap((draft) => {
        const all = listeners.get(draft.tenantId) ?? [];
        const subscribed = all.filter(({ takes }) => takes(draft.name));
        const targets = subscribed.map((each) => ({ id: each.id, waits: waits(each) }));
        return targets.length === 0 ? [] : [toOutgoing(draft, targets, dueAt)];
      });
    },
    write: (outgoing, session) => deliveries.insert(outgoing, session),
    send(outgoing) {
      const jobs = outgoing.flatMap(({ event, deliveries: ways }) =>
        ways.map((delivery) => ({ delivery, body: event.body })),
      );
      const waiting = jobs.filter(({ delivery }) => delivery.status === 'retrying');
      for (const { delivery } of waiting) starter.wakeSoon(delivery.endpoint_id);
      deliverer.deliverSoon(jobs.filter(({ delivery }) => delivery.status === 'pending'));
    },
  };
}
