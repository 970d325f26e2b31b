import { eventually } from '../../support/eventually.js';
import { startLossyProxy } from '../../support/lost-answer.js';
import { startService, type Service } from '../../support/service.js';
import { transferBody, untilTaken, type Reply, type TestTenant } from '../../support/tenant.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({ bank: { deduplicate: false } });
  tenant = await service.tenant();
});

afterAll(async () => {
  await service?.close();
});

async function expectEachPaidOnce(ids: string[]) {
  for (const id of ids) {
    await tenant.waitFor(id, 'completed');
    expect(await service.bank.journal(id)).toHaveLength(1);
  }
}

test('a transfer whose API dies between commit and workflow start is completed, once', async () => {
  // This API accepts transfers and cannot start workflows.
  const temporal = `127.0.0.1:${await service.deadPort()}`;
  const api = await service.newApi({ TEMPORAL_ADDRESS: temporal });
  await api.start();
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => transferBody()).map((body) =>
      untilTaken((under) => tenant.at(api.url).transfer(body, under)),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 201));
  await api.kill();
  await expectEachPaidOnce(replies.map(({ body }) => body.data.id));
});

test('a retry after the API died between commit and answer gets the saved response', async () => {
  const way = await startLossyProxy(String(service.env['MONGODB_URI']));
  const api = await service.newApi({ MONGODB_URI: way.uri });
  await api.start();
  const [body, key] = [transferBody(), 'the answer was lost'];
  const lost = way.loseNextCommit();
  const first = tenant
    .at(api.url)
    .transfer(body, { key })
    .catch(() => 'no answer');
  await lost;
  await api.kill();
  expect(await first).toBe('no answer');
  await way.close();

  const { db } = service.deps.database;
  const kept = await db
    .collection<{ _id: string; status: number; body: string }>('idempotency_keys')
    .findOne({ _id: `${tenant.id}/secret/${key}` });
  const again = await untilTaken((under) => tenant.transfer(body, under), key);
  expect([again.status, again.text]).toEqual([kept?.status, kept?.body]);
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
  expect((await tenant.transfer(body, { key })).text).toBe(again.text);
  expect(await db.collection('transfers').countDocuments({ reference: body.reference })).toBe(1);
  await expectEachPaidOnce([again.body.data.id]);
});

test('an API killed under load keeps every answer, and requests without one are answered on a repeat', async () => {
  const requests = Array.from({ length: 60 }, (_, i) => ({
    body: transferBody(),
    key: `under load ${i}`,
  }));
  const answered: Reply[] = [];
  const killing: Promise<void>[] = [];
  const first = await Promise.all(
    requests.map(async ({ body, key }, i) => {
      // Staggered, so that some requests are done, some in flight and some not sent when the API dies.
      await eventually('its turn', () =>
        answered.length >= i - 15 || killing.length > 0 ? true : undefined,
      );
      const reply = await tenant.transfer(body, { key }).catch(() => null);
      if (reply) answered.push(reply);
      if (answered.length === 20) killing.push(service.api.kill());
      return reply;
    }),
  );
  await Promise.all(killing);
  await service.api.start();
  expect(first).toContain(null);

  const again = await Promise.all(
    requests.map(({ body, key }) => untilTaken((under) => tenant.transfer(body, under), key)),
  );
  expect(new Set(again.map(({ status }) => status))).toEqual(new Set([201]));
  for (const [i, reply] of first.entries()) {
    if (reply && reply.status !== 503) expect(again[i]?.text).toBe(reply.text);
  }
  const ids = again.map(({ body }) => body.data.id);
  expect(new Set(ids).size).toBe(requests.length);
  const { db } = service.deps.database;
  const references = requests.map(({ body }) => body.reference);
  expect(await db.collection('transfers').countDocuments({ reference: { $in: references } })).toBe(
    requests.length,
  );
  await expectEachPaidOnce(ids);
});

test('a callback that was stored and not applied when the API died is applied by the worker', async () => {
  const id = await tenant.send('006');
  await tenant.waitFor(id, 'processing');
  // The state after a crash between storing and applying: only recovery finds the event now.
  const event = {
    dedupeKey: `left by a dead process, about ${id}`,
    reference: id,
    name: 'transfer.refused',
    state: { kind: 'rejected', code: 'account_closed' },
    occurredAt: new Date(),
  } as const;
  const reading = { kind: 'event', event } as const;
  await service.deps.providerEvents.receive('sandbox-bank', {
    port: 'transfers',
    reading,
    message: null,
  });
  const transfer = await tenant.waitFor(id, 'failed');
  expect(transfer.failure?.code).toBe('account_closed');
});

test('after the crashes the ledger balances and agrees with the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
