import { bulkTransferWorkflowId } from '../../../src/capabilities/bulk-transfers/record.js';
import { acceptedIds, bulkClient, type BatchReply } from '../../support/bulk.js';
import { withSnapshot } from '../../../src/platform/database/client.js';
import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import {
  transferBody,
  ORDER_TOTAL_MINOR,
  untilTaken,
  type ApiClient,
  type TestTenant,
} from '../../support/tenant.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  // The bank does not deduplicate, so only the service prevents a second payment.
  service = await startService({ bank: { deduplicate: false } });
  tenant = await service.tenant({ balanceMinor: 10_000 * ORDER_TOTAL_MINOR });
});

afterAll(async () => {
  await service?.close();
});

const bodies = (count: number) => Array.from({ length: count }, () => transferBody());

/** Sends a bulk transfer that must be accepted. */
async function accepted(items: unknown, client: ApiClient = tenant): Promise<BatchReply> {
  const reply = await untilTaken((under) => bulkClient(client).send(items, under));
  expect(reply.status).toBe(201);
  return reply;
}

async function expectEachPaidOnce(reply: BatchReply, count: number) {
  const ids = acceptedIds(reply.body.data);
  expect(ids).toHaveLength(count);
  const batch = await bulkClient(tenant).ended(reply.body.data.id);
  expect(batch.counts).toMatchObject({ accepted: count, completed: count });
  const journal = await service.bank.journal();
  const paid = journal.filter(({ reference }) => ids.includes(reference));
  expect(paid).toHaveLength(count);
}

const paidOf = async (ids: string[]) =>
  (await service.bank.journal()).filter(({ reference }) => ids.includes(reference)).length;

test('an API that is killed while it accepts bulk transfers leaves each of them complete or absent', async () => {
  const requests = Array.from({ length: 12 }, (_, i) => ({ items: bodies(40), key: `batch ${i}` }));
  const bulk = bulkClient(tenant);
  let answered = 0;
  const killed = eventually('some are answered', () => (answered >= 3 ? true : undefined)).then(
    () => service.api.kill(),
  );
  const first = await Promise.all(
    requests.map(({ items, key }) =>
      bulk.send(items, { key }).then(
        (reply) => {
          answered += 1;
          return reply;
        },
        () => null,
      ),
    ),
  );
  await killed;

  // At one moment: a commit of the dead API may still be on its way.
  const [batches, transfers] = await withSnapshot(service.deps.database, async (db, session) => {
    const ours = { tenant_id: tenant.id };
    const count = (name: string) => db.collection(name).countDocuments(ours, { session });
    return [await count('bulk_transfers'), await count('transfers')] as const;
  });
  expect(transfers).toBe(40 * batches);

  await service.api.start();
  const again = await Promise.all(
    requests.map(({ items, key }) => untilTaken((under) => bulk.send(items, under), key)),
  );
  for (const [i, reply] of first.entries()) {
    if (reply && reply.status !== 503) expect(again[i]?.text).toBe(reply.text);
  }
  expect(new Set(again.map(({ body }) => body.data.id)).size).toBe(requests.length);
  for (const reply of again) await expectEachPaidOnce(reply, 40);
});

test('a bulk transfer whose API died before it started a workflow is submitted', async () => {
  const temporal = `127.0.0.1:${await service.deadPort()}`;
  const api = await service.newApi({ TEMPORAL_ADDRESS: temporal });
  await api.start();
  const reply = await accepted(bodies(60), tenant.at(api.url));
  await api.kill();
  await expectEachPaidOnce(reply, 60);
});

test('every transfer of a bulk transfer is paid once although the worker is killed in the middle', async () => {
  // Slow enough that a busy machine sees the middle.
  await service.bank.faults([{ call: 'submit', kind: 'slow', probability: 1, ms: 500 }]);
  const reply = await accepted(bodies(120));
  const ids = acceptedIds(reply.body.data);
  await eventually('some are paid and others are not', async () => {
    const paid = await paidOf(ids);
    return paid > 5 && paid < 100 ? true : undefined;
  });
  await service.worker.kill();
  await service.bank.faults([]);
  await service.worker.start();
  await expectEachPaidOnce(reply, 120);
});

test('a bulk transfer whose workflow is terminated in Temporal is continued', async () => {
  await service.bank.faults([{ call: 'submit', kind: 'slow', probability: 1, ms: 150 }]);
  const reply = await accepted(bodies(120));
  const ids = acceptedIds(reply.body.data);
  const handle = service.deps.temporal.client.workflow.getHandle(
    bulkTransferWorkflowId(reply.body.data.id),
  );
  await eventually('some are paid', async () => ((await paidOf(ids)) > 5 ? true : undefined));
  await handle.terminate('by mistake');
  await service.bank.faults([]);
  await expectEachPaidOnce(reply, 120);
});

test('after the crashes the ledger balances and agrees with the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
