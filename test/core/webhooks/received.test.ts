import { Webhook } from 'standardwebhooks';
import { deliveryWorkflowId } from '../../../src/core/webhooks/workflow-contract.js';
import { allAtOnce } from '../../support/at-once.js';
import { eventually } from '../../support/eventually.js';
import { shareListening, type Listening } from '../../support/listening.js';
import type { Received } from '../../support/receiver.js';

let all: Listening;
beforeAll(async () => {
  all = await shareListening();
});
afterAll(async () => {
  await all?.close();
});

describe('a tenant with an endpoint', () => {
  allAtOnce((test) => {
    test('an endpoint gets every change of state once, numbered in sequence, in messages that the standard library verifies', async () => {
      const at = await all.receiver();
      const { tenant, secret } = await all.tenant(at);
      const id = await tenant.send();
      await all.waitForEvents(at, id, 2);
      await all.inState(tenant, 'delivered', 2);
      const library = new Webhook(secret);
      for (const { body, headers } of at.received) {
        expect(library.verify(body, headers as Record<string, string>)).toMatchObject({
          data: { id },
        });
        expect(headers['webhook-id']).toBe(JSON.parse(body).id);
        expect(() => library.verify(`${body} `, headers as Record<string, string>)).toThrow();
      }
      const events = at.events(id).toSorted((a, b) => a.sequence - b.sequence);
      expect(events.map(({ event, sequence, data }) => [event, sequence, data.status])).toEqual([
        ['transfer.processing', 1, 'processing'],
        ['transfer.completed', 2, 'completed'],
      ]);
      expect(events[1]?.data).toEqual(await tenant.get(id));
    });

    test('an endpoint gets events for a rejection, and for a reversal after the completion', async () => {
      const at = await all.receiver();
      const { tenant } = await all.tenant(at);
      const [refused, reversed] = [await tenant.send('002'), await tenant.send('008')];
      await all.waitForEvents(at, refused, 2);
      await all.waitForEvents(at, reversed, 3);
      const names = (id: string) =>
        at
          .events(id)
          .toSorted((a, b) => a.sequence - b.sequence)
          .map(({ event, sequence }) => [event, sequence]);
      expect(names(refused)).toEqual([
        ['transfer.processing', 1],
        ['transfer.failed', 2],
      ]);
      expect(names(reversed)).toEqual([
        ['transfer.processing', 1],
        ['transfer.completed', 2],
        ['transfer.reversed', 3],
      ]);
    });

    test('the timeline of a transfer has its webhook deliveries', async () => {
      const at = await all.receiver();
      const { tenant } = await all.tenant(at);
      const id = await tenant.send();
      await all.inState(tenant, 'delivered', 2);
      const lines = await all.webhooks.deliveries.timelineOf(tenant.id, id);
      expect(lines).toMatchObject([
        { type: 'webhook_delivered', detail: expect.stringMatching(/^transfer\.\w+ evt_/) },
        { type: 'webhook_delivered' },
      ]);
    });

    test('an endpoint gets only events after its creation, and no events are stored for a tenant without endpoints', async () => {
      const tenant = await all.service.tenant();
      await tenant.waitFor(await tenant.send(), 'completed');
      const { db } = all.service.deps.database;
      expect(await db.collection('webhook_events').countDocuments({ tenant_id: tenant.id })).toBe(
        0,
      );
      const at = await all.receiver();
      await all.webhooks.endpoints.add(tenant.id, at.url);
      // Every process has read a change of endpoints after a second.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const later = await tenant.send();
      await all.waitForEvents(at, later, 2);
      expect(new Set(at.events().map(({ data }) => data.id))).toEqual(new Set([later]));
    });
  });
});

describe('a secret', () => {
  allAtOnce((test) => {
    test('a rotated secret signs together with its predecessor until the overlap ends', async () => {
      const at = await all.receiver();
      const { tenant, id: endpoint, secret: old } = await all.tenant(at);
      const rotated = await all.webhooks.endpoints.rotate(endpoint, 120_000);
      const fresh = String(rotated?.secret);
      const verifiedBy = (secret: string, { body, headers }: Received) => {
        try {
          return Boolean(new Webhook(secret).verify(body, headers as Record<string, string>));
        } catch {
          return false;
        }
      };
      const during = await tenant.send();
      await all.waitForEvents(at, during, 2);
      for (const one of at.received) {
        expect([verifiedBy(old, one), verifiedBy(fresh, one)]).toEqual([true, true]);
      }
      await all.service.deps.database.db
        .collection<{ _id: string }>('webhook_endpoints')
        .updateOne(
          { _id: endpoint, 'secrets.expires_at': { $type: 'date' } },
          { $set: { 'secrets.$.expires_at': new Date() } },
        );
      // Every process reads its endpoints again within a second.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const before = at.received.length;
      const after = await tenant.send();
      await all.waitForEvents(at, after, 2);
      for (const one of at.received.slice(before)) {
        expect([verifiedBy(old, one), verifiedBy(fresh, one)]).toEqual([false, true]);
      }
    });

    test('a webhook secret is in the first answer only: in no log, no later answer, no history, and sealed in the database', async () => {
      const at = await all.receiver(500);
      const { tenant, secret, id } = await all.tenant(at);
      await tenant.send();
      await all.inState(tenant, 'dead', 2);
      const bare = secret.slice('whsec_'.length);
      const history = await all.service.deps.temporal.client.workflow
        .getHandle(deliveryWorkflowId(id))
        .fetchHistory();
      const places = {
        logs: all.service.logs(),
        history: JSON.stringify(history),
        endpoints: JSON.stringify(await all.webhooks.endpoints.list(tenant.id)),
        database: JSON.stringify(
          await all.service.deps.database.db.collection('webhook_endpoints').find().toArray(),
        ),
      };
      for (const text of Object.values(places)) expect(text).not.toContain(bare);
      // Histories have neither the address nor the content of a webhook.
      expect(places.history).not.toContain(String(at.port));
      expect(places.history).not.toContain('0123456789');
      expect(places.endpoints).toContain(id);
    });

    test('a webhook secret sealed under another pepper stops its own deliveries, and no transfer', async () => {
      const at = await all.receiver();
      const { tenant, id } = await all.tenant(at);
      const endpoints = all.service.deps.database.db.collection<{ _id: string }>(
        'webhook_endpoints',
      );
      const garbled = Buffer.alloc(80).toString('base64');
      await endpoints.updateOne({ _id: id }, { $set: { 'secrets.0.sealed': garbled } });
      const transfer = await tenant.send();
      await tenant.waitFor(transfer, 'completed');
      const [dead] = await all.inState(tenant, 'dead', 2);
      expect(dead?.attempts.at(-1)).toMatchObject({ status: null, error: 'secret_unreadable' });
      expect(at.received).toEqual([]);
    });
  });
});

test('recovery finds due records by an index in every collection', async () => {
  const { db } = all.service.deps.database;
  const at = await all.receiver();
  const { tenant } = await all.tenant(at);
  const id = await tenant.send();
  await all.waitForEvents(at, id, 2);
  const recovery = { op: 'query', 'command.filter.next_check_at': { $exists: true } };
  const recovered = () => db.collection('system.profile').distinct('command.find', recovery);
  await db.command({ profile: 2 });
  await eventually('recovery has read both collections', async () =>
    (await recovered()).includes('webhook_deliveries') && (await recovered()).includes('transfers')
      ? true
      : undefined,
  );
  await db.command({ profile: 0 });
  const scans = { ...recovery, planSummary: { $not: /IXSCAN/ } };
  expect(await db.collection('system.profile').distinct('command.find', scans)).toEqual([]);
});
