import type { Document } from 'mongodb';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { accounts } from '../../src/core/ledger/posting.js';
import { eventually } from '../support/eventually.js';
import { startOwnWorker } from '../support/own-worker.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

/** Workflow task slots of the only worker, and as many transfers whose outcome cannot be committed. */
const SLOTS = 2;
/** Events that a history with a blocked commit does not exceed in this test: one series of attempts adds six for each. */
const MAX_EVENTS = 200;
/** Account suffix of transfers that stay pending until the test sets their outcome at the bank. */
const PENDING = '006';

let service: Service;
let stopWorker: () => Promise<void>;

beforeAll(async () => {
  service = await startService({ workers: 0, bank: { callbacks: false } });
  stopWorker = await startOwnWorker(service, { maxWorkflowTasks: SLOTS });
});

afterAll(async () => {
  await stopWorker?.();
  await service?.close();
});

const workflow = (id: string) =>
  service.deps.temporal.client.workflow.getHandle(transferWorkflowId(id));
const postings = () => service.deps.database.db.collection<Document & { _id: string }>('postings');

/** Takes the id of the posting that ends this transfer, so that no outcome of it can be committed. */
const block = (tenant: TestTenant, id: string) =>
  postings().insertOne({
    _id: `${id}/resolve`,
    tenant_id: tenant.id,
    legs: [
      { account: accounts.held(tenant.id), amount_minor: -1n },
      { account: accounts.available(tenant.id), amount_minor: 1n },
    ],
    at: new Date(),
  });

const needsAttention = async (id: string) =>
  Boolean((await workflow(id).describe()).searchAttributes['NeedsAttention']?.[0]);

/** The timers of a run, in milliseconds. */
async function timersOf(id: string): Promise<number[]> {
  const { events } = await workflow(id).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const time = event.timerStartedEventAttributes?.startToFireTimeout;
    return time ? [Number(time.seconds ?? 0) * 1_000 + (time.nanos ?? 0) / 1e6] : [];
  });
}

/** Verifies a transfer, again if a busy machine does not answer within the deadline of the command. */
const verify = (tenant: TestTenant, id: string) =>
  eventually(`the command on ${id} is answered`, async () =>
    service.deps.transfers.starter.command(await tenant.stored(id), 'verify', {
      actor: 'ada',
      reason: 'a customer asks',
      session_id: null,
      force: false,
    }),
  );

test('outcomes that cannot be committed call an operator, answer commands and block no other transfer, and each is committed once when the cause is gone', async () => {
  const tenant = await service.tenant();
  const other = await service.tenant();
  const ids = await Promise.all(Array.from({ length: SLOTS }, () => tenant.send(PENDING)));
  await Promise.all(ids.map((id) => block(tenant, id)));
  for (const id of ids) await service.bank.decideTransfer(id, 'paid');

  for (const id of ids) {
    await eventually(`${id} has attention`, async () => (await needsAttention(id)) || undefined);
    const { status, attention } = await tenant.stored(id);
    expect([status, attention?.reason]).toEqual([
      'processing',
      expect.stringContaining('our own store refuses'),
    ]);
  }
  await other.waitFor(await other.send(), 'completed');

  for (const id of ids) {
    expect(await verify(tenant, id)).toMatchObject({
      done: true,
      message: expect.stringMatching(/paid.*our own store refuses/),
    });
  }
  await other.waitFor(await other.send(), 'completed');

  await postings().deleteMany({ _id: { $in: ids.map((id) => `${id}/resolve`) } });
  for (const id of ids) {
    const { attention } = await tenant.waitFor(id, 'completed');
    expect(attention).toBeNull();
    expect(await service.bank.journal(id)).toHaveLength(1);
    expect(await postings().countDocuments({ _id: { $regex: `^${id}/resolve` } })).toBe(1);
    await workflow(id).result();
    expect(await needsAttention(id)).toBe(false);
    expect((await workflow(id).describe()).historyLength).toBeLessThan(MAX_EVENTS);
  }
  expect(await service.problems()).toEqual([]);
});

test('a commit that fails leaves its slot to other workflows after each attempt', async () => {
  const tenant = await service.tenant();
  const id = await tenant.send(PENDING);
  await block(tenant, id);
  await service.bank.decideTransfer(id, 'paid');
  await eventually('it has attention', async () => (await needsAttention(id)) || undefined);
  // A pause that is a timer ends the workflow task.
  expect(await timersOf(id)).toEqual(expect.arrayContaining([200, 800, 3_200]));
  await postings().deleteOne({ _id: `${id}/resolve` });
  await tenant.waitFor(id, 'completed');
});

test('a run calls an operator by its search attribute if the store refuses the note too, and still answers a command', async () => {
  const { db } = service.deps.database;
  const tenant = await service.tenant();
  const id = await tenant.send(PENDING);
  await eventually('it is submitted', async () =>
    (await tenant.stored(id)).timeline.length > 2 ? true : undefined,
  );
  const [info] = await db.listCollections({ name: 'transfers' }).toArray();
  const options = (info as { options?: Document } | undefined)?.options ?? {};
  const validate = (validator: Document) => db.command({ collMod: 'transfers', validator });
  const present = (options['validator'] ?? {}) as Document;
  // No write of this record is valid any more.
  await validate({ $and: [present, { _id: { $ne: id } }] });
  try {
    await service.bank.decideTransfer(id, 'paid');
    await eventually('it has attention', async () => (await needsAttention(id)) || undefined);
    expect((await tenant.stored(id)).attention).toBeNull();
    expect(await verify(tenant, id)).toMatchObject({ done: true });
  } finally {
    await validate(present);
  }
  await tenant.waitFor(id, 'completed');
  expect((await workflow(id).describe()).historyLength).toBeLessThan(MAX_EVENTS);
  expect(await service.problems()).toEqual([]);
});
