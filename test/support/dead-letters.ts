import { randomUUID } from 'node:crypto';
import type { Deps } from '../../src/composition/deps.js';
import type { ProviderEvent } from '../../src/core/provider-events/event.js';
import { newDelivery } from '../../src/core/webhooks/deliveries.js';
import type { Delivery, StoredEvent } from '../../src/core/webhooks/event.js';
import { newId } from '../../src/shared/ids.js';

/** Stores an event of a tenant with an endpoint, and its delivery that was given up. Returns the ids of both. */
export async function deadDelivery({ webhooks, database: { db } }: Deps, tenantId: string) {
  const endpoint = await webhooks.endpoints.add(tenantId, 'http://127.0.0.1:9/hook');
  const event: StoredEvent = {
    _id: newId('event'),
    tenant_id: tenantId,
    resource_id: newId('transfer'),
    name: 'transfer.completed',
    sequence: 1,
    body: '{}',
    created_at: new Date(),
  };
  const delivery: Delivery = {
    ...newDelivery(event, String(endpoint?.id), new Date()),
    status: 'dead',
    next_check_at: null,
  };
  await db.collection<StoredEvent>('webhook_events').insertOne(event);
  await db.collection<Delivery>('webhook_deliveries').insertOne(delivery);
  return { event: event._id, delivery: delivery._id };
}

/** Stores a message of a provider that no adapter could read. Returns its id. */
export async function failedEvent({ providerEvents }: Deps, name: string): Promise<string> {
  const reading = { kind: 'unreadable', dedupeKey: randomUUID(), name } as const;
  const received = { port: 'transfers', reading, message: null } as const;
  const made = providerEvents.newEvent('sandbox-bank', received);
  const attention = { since: new Date(), reason: 'it cannot be read' };
  const failed: ProviderEvent = { ...made, status: 'failed', attention, next_check_at: null };
  await providerEvents.store.insert(failed);
  return failed._id;
}
