import type { Delivery } from '../../src/core/webhooks/event.js';
import { eventually } from './eventually.js';
import { startReceiver, type Behaviour, type Receiver } from './receiver.js';
import { startService } from './service.js';
import type { TestTenant } from './tenant.js';

/** Webhooks to one's own machine, over times that a test can wait for: four attempts within two seconds. */
const SHORT_TIMES = {
  BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
  BURSAR_WEBHOOK_TIMEOUT_MS: '1500',
  BURSAR_WEBHOOK_RETRY_SECONDS: '0.2,0.4,0.6',
};

export type Listening = Awaited<ReturnType<typeof startListening>>;

/** A whole service, and receivers of webhooks that end with it. */
export async function startListening() {
  const service = await startService({ env: SHORT_TIMES });
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

    /** A tenant that is told at this receiver. */
    async tenant(at: Receiver) {
      const tenant = await service.tenant();
      const endpoint = await webhooks.endpoints.add(tenant.id, at.url);
      if (!endpoint) throw new Error('the endpoint was not added');
      return { tenant, ...endpoint };
    },

    /** Waits until so many messages about this transfer have come. */
    told: (at: Receiver, id: string, count: number) =>
      eventually(`${count} events of ${id}`, () => {
        const events = at.events(id);
        return events.length >= count ? events : undefined;
      }),

    /** Waits until so many of a tenant's deliveries are in this state. */
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
