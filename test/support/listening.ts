import type { Delivery } from '../../src/core/webhooks/event.js';
import { eventually } from './eventually.js';
import { startReceiver, type Behaviour, type Receiver } from './receiver.js';
import {
  SHORT_WEBHOOK_TIMES,
  shareService,
  startService,
  type Service,
  type ServiceOptions,
} from './service.js';
import type { TestTenant } from './tenant.js';

/** A service with receivers of webhooks. */
export type Listening = Awaited<ReturnType<typeof startListening>>;

/** Starts a whole service with settings of its own, whose receivers of webhooks end with it. */
export const startListening = async (
  env: Record<string, string> = {},
  options: ServiceOptions = {},
) => listeningTo(await startService({ ...options, env: { ...SHORT_WEBHOOK_TIMES, ...env } }));

/** Takes a shared service, with receivers of webhooks. */
export const shareListening = async () => listeningTo(await shareService());

function listeningTo(service: Service) {
  const { webhooks } = service.deps;
  const receivers: Receiver[] = [];
  const deliveriesOf = (tenant: TestTenant): Promise<Delivery[]> =>
    webhooks.deliveries.list({ tenantId: tenant.id, dead: false, limit: 100 });

  return {
    service,
    webhooks,
    deliveriesOf,

    async receiver(behaviour?: Behaviour): Promise<Receiver> {
      const started = await startReceiver(behaviour);
      receivers.push(started);
      return started;
    },

    /** Creates a tenant with an endpoint at this receiver. */
    async tenant(at: Receiver) {
      const tenant = await service.tenant();
      const endpoint = await webhooks.endpoints.add(tenant.id, at.url);
      if (!endpoint) throw new Error('the endpoint was not added');
      return { tenant, ...endpoint };
    },

    /** Waits until this number of events about a transfer has arrived. */
    waitForEvents: (at: Receiver, id: string, count: number) =>
      eventually(`${count} events of ${id}`, () => {
        const events = at.events(id);
        return events.length >= count ? events : undefined;
      }),

    /** Waits until this number of a tenant's deliveries has this status. */
    inState: (tenant: TestTenant, status: Delivery['status'], count = 1) =>
      eventually(`${count} deliveries are ${status}`, async () => {
        const found = (await deliveriesOf(tenant)).filter((one) => one.status === status);
        return found.length >= count ? found : undefined;
      }),

    async close(): Promise<void> {
      await service.close();
      for (const receiver of receivers) await receiver.close();
    },
  };
}
