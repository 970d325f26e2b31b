import type { Transfer } from '../../src/capabilities/transfers/record.js';
import { transferMicroBatchWorkflowId } from '../../src/capabilities/transfers/workflow-starter.js';
import { acceptedIds, bulkClient } from '../support/bulk.js';
import { sharedEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { transferBody, type TestTenant } from '../support/tenant.js';

/** A transfer that stays pending at the bank. */
const PENDING = '006';
/** A cut for which a write waits in vain, and shorter than the activity of a micro-batch may last, also on a slow machine. */
const CUT_MS = 8_000;
const LONGER_THAN_THE_CUT_MS = 20_000;
const COUNT = 10;

let service: Service;
let tenant: TestTenant;
let network: Awaited<ReturnType<typeof startTcpProxy>>;
const answers = { areLost: false };

/** Cuts the worker from its database at the first write of an answer of the bank. */
function cutAtAnAnswer(sent: Buffer): number {
  const isAnswer = ['update', 'transfers', 'provider_answer'].every((word) => sent.includes(word));
  if (!isAnswer || !answers.areLost) return 0;
  network.cut();
  return LONGER_THAN_THE_CUT_MS;
}

beforeAll(async () => {
  network = await startTcpProxy(sharedEngines().mongodbUri, cutAtAnAnswer);
  service = await startService({
    workers: 0,
    bank: { deduplicate: false, conclusiveAfterMs: 1_000, callbacks: false },
  });
  tenant = await service.tenant();
  await service.newWorker({ MONGODB_URI: network.uri }).start();
});

afterAll(async () => {
  await service?.close();
  network?.close();
});

const transfers = () => service.deps.database.db.collection<Transfer>('transfers');
const submittedOf = async (ids: string[]) =>
  (
    await transfers()
      .find({ _id: { $in: ids }, submissions: 1 })
      .toArray()
  ).map(({ _id }) => _id);

/** True if one of these transfers was the first of a micro-batch. */
async function haveMicroBatch(ids: string[]): Promise<boolean> {
  const { workflow } = service.deps.temporal.client;
  const found = await Promise.allSettled(
    ids.map((id) => workflow.getHandle(transferMicroBatchWorkflowId(id)).describe()),
  );
  return found.some(({ status }) => status === 'fulfilled');
}

/** Sends transfers whose acknowledgements cannot be stored, and which the bank does not find afterwards. */
async function loseAnswersOf(send: () => Promise<string[]>): Promise<string[]> {
  answers.areLost = true;
  const ids = await send();
  await eventually(
    'some are submitted',
    async () => (await submittedOf(ids)).length > 0 || undefined,
  );
  await new Promise((resolve) => setTimeout(resolve, CUT_MS));
  const submitted = await submittedOf(ids);
  const unrecorded = await transfers()
    .find({ _id: { $in: submitted }, acknowledged_at: null })
    .toArray();
  expect(unrecorded.length).toBeGreaterThan(0);
  await service.bank.failOver(submitted, 600_000);
  answers.areLost = false;
  network.heal();
  return submitted;
}

/** No transfer that the bank does not find any more is submitted again; each completes once the bank finds it. */
async function expectSubmittedOnce(ids: string[]): Promise<void> {
  await eventually('an operator is called for each', async () => {
    const called = { _id: { $in: ids }, 'attention.reason': /had acknowledged/ };
    return (await transfers().countDocuments(called)) === ids.length || undefined;
  });
  expect(await submittedOf(ids)).toHaveLength(ids.length);
  await service.bank.failOver([], 1);
  for (const id of ids) await service.bank.decideTransfer(id, 'paid');
  for (const id of ids) await tenant.waitFor(id, 'completed');
  for (const id of ids) expect(await service.bank.journal(id)).toHaveLength(1);
}

test('an acknowledgement that cannot be stored keeps a transfer of a micro-batch from another submission', async () => {
  const ids = await loseAnswersOf(() =>
    Promise.all(Array.from({ length: COUNT }, () => tenant.send(PENDING))),
  );
  expect(await haveMicroBatch(ids)).toBe(true);
  await expectSubmittedOnce(ids);
});

test('an acknowledgement that cannot be stored keeps a transfer of a bulk transfer from another submission', async () => {
  const ids = await loseAnswersOf(async () => {
    const items = Array.from({ length: COUNT }, () => transferBody(PENDING));
    return acceptedIds((await bulkClient(tenant).send(items)).body.data);
  });
  await expectSubmittedOnce(ids);
});
