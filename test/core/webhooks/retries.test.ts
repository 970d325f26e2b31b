import type { ServerResponse } from 'node:http';
import { deliveryWorkflowId } from '../../../src/core/webhooks/workflow-contract.js';
import { allAtOnce, eachAtOnce } from '../../support/at-once.js';
import { eventually } from '../../support/eventually.js';
import { shareListening, type Listening } from '../../support/listening.js';
import { hang, type Receiver } from '../../support/receiver.js';

let all: Listening;
beforeAll(async () => {
  all = await shareListening();
});
afterAll(async () => {
  await all?.close();
});

describe('a delivery that fails', () => {
  allAtOnce((test) => {
    test('failed deliveries are retried by the workflow of their endpoint, and arrive when the receiver is back', async () => {
      const refused = new Set<unknown>();
      // The second event may come after all retries of the first, so the receiver is back for each of them separately.
      const at = await all.receiver((response, { headers }) => {
        const id = headers['webhook-id'];
        response.writeHead(refused.has(id) ? 200 : 503).end();
        refused.add(id);
      });
      const { tenant, id: endpoint } = await all.tenant(at);
      await tenant.send();
      const delivered = await all.inState(tenant, 'delivered', 2);
      for (const { attempts } of delivered) {
        expect(attempts[0]).toMatchObject({ status: 503, error: 'refused' });
        expect(attempts.at(-1)).toMatchObject({ status: 200, error: null });
      }
      const run = all.service.deps.temporal.client.workflow.getHandle(deliveryWorkflowId(endpoint));
      expect((await run.describe()).taskQueue).toBe(
        `${all.service.env['BURSAR_TASK_QUEUE']}-webhooks`,
      );
      await run.result();
      // The same message every time: only its time and signature are new.
      const [first] = at.received;
      const again = at.received.filter(({ headers }) => {
        return headers['webhook-id'] === first?.headers['webhook-id'];
      });
      expect(new Set(again.map(({ body }) => body)).size).toBe(1);
      expect(again.length).toBeGreaterThan(1);
    });

    test('a delivery is dead after its last attempt, and is delivered when an operator sends it again', async () => {
      const at = await all.receiver(500);
      const { tenant } = await all.tenant(at);
      const id = await tenant.send();
      const dead = await all.inState(tenant, 'dead', 2);
      for (const { attempts, next_check_at: dueAt } of dead) {
        expect(attempts.map(({ status }) => status)).toEqual([500, 500, 500, 500]);
        expect(dueAt).toBeNull();
      }
      const listed = await all.webhooks.deliveries.list({
        tenantId: tenant.id,
        dead: true,
        limit: 10,
      });
      expect(listed).toHaveLength(2);
      const before = at.events(id).length;
      at.behave(200);
      await all.webhooks.redeliver(String(dead[0]?._id));
      await all.waitForEvents(at, id, before + 1);
      expect(await all.inState(tenant, 'delivered')).toMatchObject([{ _id: dead[0]?._id }]);
      expect(await all.inState(tenant, 'dead')).toHaveLength(1);
    });

    test('a delivery does not follow a redirect', async () => {
      const target = await all.receiver();
      const at = await all.receiver((response) =>
        response.writeHead(307, { location: target.url }).end(),
      );
      const { tenant } = await all.tenant(at);
      await tenant.send();
      const dead = await all.inState(tenant, 'dead', 2);
      expect(dead[0]?.attempts[0]).toMatchObject({ status: 307, error: 'refused' });
      expect(target.received).toEqual([]);
    });

    test('what died while its endpoint failed is delivered when an operator resumes the endpoint', async () => {
      const at = await all.receiver(500);
      const { tenant, id } = await all.tenant(at);
      const transfer = await tenant.send();
      await all.inState(tenant, 'dead', 2);
      at.behave(204);
      await all.webhooks.resumeEndpoint(id);
      await all.inState(tenant, 'delivered', 2);
      expect(new Set(at.events(transfer).map(({ sequence }) => sequence))).toEqual(new Set([1, 2]));
    });

    test('an event that its receiver always refuses dies alone: the endpoint gets all others at the first attempt', async () => {
      const at = await all.receiver((response, { body }) =>
        response.writeHead(body.includes('"transfer.processing"') ? 422 : 204).end(),
      );
      const { tenant, id } = await all.tenant(at);
      for (let i = 0; i < 3; i += 1) await tenant.waitFor(await tenant.send(), 'completed');
      const dead = await all.inState(tenant, 'dead', 3);
      expect(dead.map(({ attempts }) => attempts.length)).toEqual([4, 4, 4]);
      const others = await all.inState(tenant, 'delivered', 3);
      expect(others.map(({ name }) => name)).toEqual(Array(3).fill('transfer.completed'));
      expect(await all.webhooks.endpoints.get(id)).toMatchObject({ status: 'enabled' });
    });

    test('a delivery is cancelled when its endpoint is removed', async () => {
      const at = await all.receiver(500);
      const { tenant, id } = await all.tenant(at);
      await tenant.send();
      // On a busy machine all attempts may be over already.
      await eventually('an attempt has failed', async () =>
        (await all.deliveriesOf(tenant)).some(({ attempts }) => attempts.length > 0)
          ? true
          : undefined,
      );
      await all.webhooks.removeEndpoint(id);
      await eventually('nothing is left to do', async () =>
        (await all.deliveriesOf(tenant)).every(({ next_check_at: dueAt }) => dueAt === null)
          ? true
          : undefined,
      );
    });
  });

  eachAtOnce<[string, number, number]>([
    ['taken', 1, 204],
    ['refused for the last time', 4, 500],
  ])(
    'is delivered again on an operator’s command while the previous attempt is still to be %s',
    async (_name, held, status) => {
      let open: { id: unknown; response: ServerResponse } | undefined;
      const times = (id: unknown) =>
        at.received.filter(({ headers }) => headers['webhook-id'] === id).length;
      const at: Receiver = await all.receiver((response, { headers }) => {
        const id = headers['webhook-id'];
        if (times(id) < held) response.writeHead(500).end();
        else if (open) response.writeHead(204).end();
        else open = { id, response };
      });
      const { tenant } = await all.tenant(at);
      await tenant.send();
      const { id, response } = await eventually('an attempt is under way', () => open);
      const delivery = (await all.deliveriesOf(tenant)).find(({ event_id: event }) => event === id);
      await all.webhooks.redeliver(String(delivery?._id));
      response.writeHead(status).end();
      await eventually('it came again', () => (times(id) > held ? true : undefined));
      await eventually('and that is what its record says', async () => {
        const found = await all.webhooks.deliveries.get(String(delivery?._id));
        return found?.status === 'delivered' && found.attempt_count === 1 ? true : undefined;
      });
    },
  );
});

describe('one endpoint that never answers', () => {
  test('an endpoint that never answers delays no other: all other deliveries arrive at the first attempt', async () => {
    const [hanging, healthy] = [await all.receiver(hang), await all.receiver()];
    const [slow, fast] = [await all.tenant(hanging), await all.tenant(healthy)];
    await Promise.all(Array.from({ length: 12 }, () => slow.tenant.send()));
    await eventually('the hanging one hangs', () =>
      hanging.received.length > 0 ? true : undefined,
    );
    await Promise.all(Array.from({ length: 12 }, () => fast.tenant.send()));
    await all.inState(fast.tenant, 'delivered', 24);
    const attempts = (await all.deliveriesOf(fast.tenant)).map((one) => one.attempts.length);
    expect(attempts).toEqual(Array.from({ length: 24 }, () => 1));
    const waiting = await all.deliveriesOf(slow.tenant);
    expect(waiting.map(({ status }) => status)).not.toContain('delivered');
  });
});
