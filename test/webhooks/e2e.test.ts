import { Webhook } from 'standardwebhooks';
import { compiled } from '../../src/engines/paths.js';
import { deliveryWorkflowId } from '../../src/webhooks/out/reports.js';
import type { Delivery } from '../../src/webhooks/out/event.js';
import { eventually } from '../support/eventually.js';
import { hang, startReceiver, type Behaviour, type Receiver } from '../support/receiver.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
const receivers: Receiver[] = [];

beforeAll(async () => {
  service = await startService({
    env: {
      BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
      BURSAR_WEBHOOK_TIMEOUT_MS: '1500',
      BURSAR_WEBHOOK_RETRY_SECONDS: '0.2,0.4,0.6',
    },
  });
});
afterAll(async () => {
  await service?.close();
  for (const receiver of receivers) await receiver.close();
});

async function receiver(behaviour?: Behaviour): Promise<Receiver> {
  const started = await startReceiver(behaviour);
  receivers.push(started);
  return started;
}

/** A tenant that is told at this receiver. */
async function listening(at: Receiver) {
  const tenant = await service.tenant();
  const endpoint = await service.deps.webhooks.endpoints.add(tenant.id, at.url);
  if (!endpoint) throw new Error('not added');
  return { tenant, ...endpoint };
}

const deliveriesOf = (tenant: TestTenant): Promise<Delivery[]> =>
  service.deps.webhooks.deliveries.list({ tenant: tenant.id, dead: false, limit: 100 });

const told = (at: Receiver, id: string, count: number) =>
  eventually(`${count} events of ${id}`, () => {
    const events = at.events(id);
    return events.length >= count ? events : undefined;
  });

const inState = (tenant: TestTenant, status: Delivery['status'], count = 1) =>
  eventually(`${count} deliveries are ${status}`, async () => {
    const all = await deliveriesOf(tenant);
    const found = all.filter((one) => one.status === status);
    return found.length >= count ? found : undefined;
  });

describe('a tenant with an endpoint', () => {
  test('is told of every change of state once, in numbered order, by messages that the stock library verifies', async () => {
    const at = await receiver();
    const { tenant, secret } = await listening(at);
    const id = await tenant.send();
    await told(at, id, 2);
    await inState(tenant, 'delivered', 2);
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

  test('is told of a refusal, and of a reversal after the completion', async () => {
    const at = await receiver();
    const { tenant } = await listening(at);
    const [refused, reversed] = [await tenant.send('002'), await tenant.send('008')];
    await told(at, refused, 2);
    await told(at, reversed, 3);
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

  test('finds on the timeline what it was told', async () => {
    const at = await receiver();
    const { tenant } = await listening(at);
    const id = await tenant.send();
    await inState(tenant, 'delivered', 2);
    const lines = await service.deps.webhooks.deliveries.timelineOf(tenant.id, id);
    expect(lines).toMatchObject([
      { type: 'webhook_delivered', detail: expect.stringMatching(/^transfer\.\w+ evt_/) },
      { type: 'webhook_delivered' },
    ]);
  });

  test('that is added later gets only what happens later; nothing is written for who has none', async () => {
    const tenant = await service.tenant();
    await tenant.waitFor(await tenant.send(), 'completed');
    const { db } = service.deps.database;
    expect(await db.collection('webhook_events').countDocuments({ tenant: tenant.id })).toBe(0);
    const at = await receiver();
    await service.deps.webhooks.endpoints.add(tenant.id, at.url);
    // Every process has seen a change of endpoints after a second.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const later = await tenant.send();
    await told(at, later, 2);
    expect(new Set(at.events().map(({ data }) => data.id))).toEqual(new Set([later]));
  });
});

describe('a delivery that fails', () => {
  test('is retried by its workflow and arrives when the receiver is back', async () => {
    const at = await receiver(503);
    const { tenant } = await listening(at);
    const id = await tenant.send();
    await told(at, id, 2);
    at.behave(200);
    const delivered = await inState(tenant, 'delivered', 2);
    for (const { attempts, _id } of delivered) {
      expect(attempts[0]).toMatchObject({ status: 503, error: 'refused' });
      expect(attempts.at(-1)).toMatchObject({ status: 200, error: null });
      const run = service.deps.temporal.client.workflow.getHandle(deliveryWorkflowId(_id));
      expect((await run.describe()).taskQueue).toBe(`${service.env['BURSAR_TASK_QUEUE']}-webhooks`);
      await run.result();
    }
    // The same message every time: only its time and signature are new.
    const [first] = at.received;
    const again = at.received.filter(({ headers }) => {
      return headers['webhook-id'] === first?.headers['webhook-id'];
    });
    expect(new Set(again.map(({ body }) => body)).size).toBe(1);
    expect(again.length).toBeGreaterThan(1);
  });

  test('is dead after the last attempt, and delivered when an operator sends it again', async () => {
    const at = await receiver(500);
    const { tenant } = await listening(at);
    const id = await tenant.send();
    const dead = await inState(tenant, 'dead', 2);
    for (const { attempts, due_at: dueAt } of dead) {
      expect(attempts.map(({ status }) => status)).toEqual([500, 500, 500, 500]);
      expect(dueAt).toBeNull();
    }
    const listed = await service.deps.webhooks.deliveries.list({
      tenant: tenant.id,
      dead: true,
      limit: 10,
    });
    expect(listed).toHaveLength(2);
    const before = at.events(id).length;
    at.behave(200);
    await service.deps.webhooks.redeliver(String(dead[0]?._id));
    await told(at, id, before + 1);
    expect(await inState(tenant, 'delivered')).toMatchObject([{ _id: dead[0]?._id }]);
    expect(await inState(tenant, 'dead')).toHaveLength(1);
  });

  test('does not follow a redirect', async () => {
    const target = await receiver();
    const at = await receiver((response) =>
      response.writeHead(307, { location: target.url }).end(),
    );
    const { tenant } = await listening(at);
    await tenant.send();
    const dead = await inState(tenant, 'dead', 2);
    expect(dead[0]?.attempts[0]).toMatchObject({ status: 307, error: 'refused' });
    expect(target.received).toEqual([]);
  });

  test('is called off when its endpoint is removed or switched off', async () => {
    const at = await receiver(500);
    const { tenant, id } = await listening(at);
    await service.deps.webhooks.endpoints.setStatus(id, 'disabled');
    await service.deps.webhooks.endpoints.setStatus(id, 'enabled');
    await tenant.send();
    await inState(tenant, 'retrying', 1);
    await service.deps.webhooks.endpoints.remove(id);
    await eventually('nothing is left to do', async () =>
      (await deliveriesOf(tenant)).every(({ due_at: dueAt }) => dueAt === null) ? true : undefined,
    );
  });
});

describe('one endpoint that never answers', () => {
  test('holds back no other: all is delivered there while everything here still waits', async () => {
    const [hanging, healthy] = [await receiver(hang), await receiver()];
    const [slow, fast] = [await listening(hanging), await listening(healthy)];
    await Promise.all(Array.from({ length: 12 }, () => slow.tenant.send()));
    await eventually('the hanging one hangs', () =>
      hanging.received.length > 0 ? true : undefined,
    );
    await Promise.all(Array.from({ length: 12 }, () => fast.tenant.send()));
    await inState(fast.tenant, 'delivered', 24);
    const attempts = (await deliveriesOf(fast.tenant)).map((one) => one.attempts.length);
    expect(attempts).toEqual(Array.from({ length: 24 }, () => 1));
    expect(
      await deliveriesOf(slow.tenant).then((all) => all.map(({ status }) => status)),
    ).not.toContain('delivered');
    hanging.behave(200);
  });
});

describe('whoever writes an event', () => {
  test('may die before it is delivered: another process delivers it', async () => {
    const at = await receiver();
    const { tenant } = await listening(at);
    const id = await tenant.send('006');
    await told(at, id, 1);
    // The commit of a process that is gone a moment later: it writes, and never sends.
    const { outbox } = service.deps.webhooks;
    const { createGroupCommit } = await import('../../src/ledger/group-commit.js');
    const dying = createGroupCommit(service.deps.database, { ...outbox, send: () => undefined });
    const fact = { kind: 'paid', amountMinor: null, sessionId: 's-1' } as const;
    const origin = { via: 'webhook', actor: 'test', providerRequestId: null, note: null } as const;
    await dying.commit({ kind: 'fact', tenant: tenant.id, id, fact: { ...fact, ...origin } });
    const events = await told(at, id, 2);
    expect(events.map(({ event }) => event)).toEqual(['transfer.processing', 'transfer.completed']);
    await inState(tenant, 'delivered', 2);
    await service.bank.tell(id, 'paid');
  });

  test('may be killed at any moment: every event arrives all the same', async () => {
    const at = await receiver();
    const { tenant } = await listening(at);
    const sent: Promise<string>[] = [];
    for (let i = 0; i < 20; i += 1) sent.push(tenant.send());
    const ids = await Promise.all(sent);
    await eventually('some are told', () => (at.received.length > 5 ? true : undefined));
    await service.worker.kill();
    await service.worker.start();
    for (const id of ids) {
      const events = await eventually(
        `both events of ${id}`,
        () => {
          const found = new Map(at.events(id).map((one) => [one.sequence, one.event]));
          return found.size === 2 ? found : undefined;
        },
        90_000,
      );
      expect([...events].toSorted(([a], [b]) => a - b)).toEqual([
        [1, 'transfer.processing'],
        [2, 'transfer.completed'],
      ]);
    }
    expect(await service.problems()).toEqual([]);
  }, 180_000);
});

describe('a secret', () => {
  test('is exchanged without a gap: both sign until the overlap is over', async () => {
    const at = await receiver();
    const { tenant, id: endpoint, secret: old } = await listening(at);
    const rotated = await service.deps.webhooks.endpoints.rotate(endpoint, 4_000);
    const fresh = String(rotated?.secret);
    const verifiedBy = (secret: string, { body, headers }: Receiver['received'][number]) => {
      try {
        return Boolean(new Webhook(secret).verify(body, headers as Record<string, string>));
      } catch {
        return false;
      }
    };
    const during = await tenant.send();
    await told(at, during, 2);
    for (const one of at.received) {
      expect([verifiedBy(old, one), verifiedBy(fresh, one)]).toEqual([true, true]);
    }
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const before = at.received.length;
    const after = await tenant.send();
    await told(at, after, 2);
    for (const one of at.received.slice(before)) {
      expect([verifiedBy(old, one), verifiedBy(fresh, one)]).toEqual([false, true]);
    }
  });

  test('is in no log, no answer but the first, no history, and not readable in the database', async () => {
    const at = await receiver(500);
    const { tenant, secret, id } = await listening(at);
    await tenant.send();
    const [dead] = await inState(tenant, 'dead', 2);
    const bare = secret.slice('whsec_'.length);
    const history = await service.deps.temporal.client.workflow
      .getHandle(deliveryWorkflowId(String(dead?._id)))
      .fetchHistory();
    const places = {
      logs: service.logs(),
      history: JSON.stringify(history),
      endpoints: JSON.stringify(await service.deps.webhooks.endpoints.list(tenant.id)),
      database: JSON.stringify(
        await service.deps.database.db.collection('webhook_endpoints').find().toArray(),
      ),
    };
    for (const text of Object.values(places)) expect(text).not.toContain(bare);
    // Where it goes and what it tells stay out of histories, too.
    expect(places.history).not.toContain(String(at.port));
    expect(places.history).not.toContain('0123456789');
    expect(places.endpoints).toContain(id);
  });
});

test('the commands do what they say', async () => {
  const at = await receiver();
  const tenant = await service.tenant();
  let runs = 0;
  async function bursar(...args: string[]) {
    runs += 1;
    const script = compiled('src', 'cli', 'main.js');
    const { execFile } = await import('node:child_process');
    return new Promise<{ code: number; out: string }>((resolve) => {
      const env = { PATH: process.env['PATH'], ...service.env };
      execFile(process.execPath, [script, ...args, '--json'], { env }, (error, stdout, stderr) =>
        resolve({ code: error ? 1 : 0, out: stdout.trim() || stderr.trim() }),
      );
    });
  }
  const json = async (...args: string[]) => {
    const { code, out } = await bursar(...args);
    expect([args.join(' '), code]).toEqual([args.join(' '), 0]);
    return JSON.parse(out);
  };
  const { id, secret } = await json(
    'webhooks',
    'endpoints',
    'add',
    '--tenant',
    tenant.id,
    '--url',
    at.url,
  );
  expect(id).toMatch(/^whe_/);
  expect(secret).toMatch(/^whsec_/);
  expect(await json('webhooks', 'endpoints', 'list', '--tenant', tenant.id)).toMatchObject([
    { id, url: at.url, status: 'enabled', secrets: 1 },
  ]);
  const transfer = await tenant.send();
  await told(at, transfer, 2);
  await inState(tenant, 'delivered', 2);
  const listed = await json('webhooks', 'deliveries', 'list', '--tenant', tenant.id);
  expect(listed).toHaveLength(2);
  const shown = await json('webhooks', 'deliveries', 'show', listed[0].id);
  expect(shown).toMatchObject({ status: 'delivered', attempts: [{ status: 204 }] });
  await json('webhooks', 'deliveries', 'redeliver', listed[0].id);
  await told(at, transfer, 3);
  await json('events', 'replay', listed[1].event);
  await told(at, transfer, 4);
  expect((await json('webhooks', 'endpoints', 'rotate', id)).secret).not.toBe(secret);
  expect((await json('transfers', 'show', transfer)).timeline.at(-1).type).toBe(
    'webhook_delivered',
  );
  await json('webhooks', 'endpoints', 'disable', id);
  await json('webhooks', 'endpoints', 'enable', id);
  await json('webhooks', 'endpoints', 'remove', id);
  expect((await bursar('webhooks', 'endpoints', 'remove', id)).code).toBe(1);
  const file = await bursar(
    'webhooks',
    'endpoints',
    'add',
    '--tenant',
    tenant.id,
    '--url',
    'ftp://x',
  );
  expect(file).toMatchObject({ code: 1, out: expect.stringContaining('neither https nor http') });
  expect(runs).toBeGreaterThan(0);
}, 120_000);
