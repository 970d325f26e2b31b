import type { Transfer } from '../../src/capabilities/transfers/record.js';
import { sharedEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import type { TestTenant } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

/** Longer than the two seconds of a local submission. */
const LONGER_THAN_A_CALL_MS = 2_500;
/** Longer than a permit is valid, and shorter than the time after which the bank refuses a request as too old. */
const LONGER_THAN_A_PERMIT_MS = 5_500;

let service: Service;
let tenant: TestTenant;
let network: Awaited<ReturnType<typeof startTcpProxy>>;
const permits = { delayMs: 0, delayed: 0 };

/** The delay of the write that takes a submit permit: the only one of its kind for transfers. */
function delayOf(sent: Buffer): number {
  const isPermit = ['findAndModify', 'transfers', 'first_submitted_at'].every((word) =>
    sent.includes(word),
  );
  if (!isPermit || permits.delayMs === 0) return 0;
  permits.delayed += 1;
  return permits.delayMs;
}

beforeAll(async () => {
  network = await startTcpProxy(sharedEngines().mongodbUri, delayOf);
  const bank = { deduplicate: false, conclusiveAfterMs: 10_000 };
  service = await startService({ workers: 0, bank });
  tenant = await service.tenant();
  await service.newWorker({ MONGODB_URI: network.uri }).start();
});

afterAll(async () => {
  await service?.close();
  network?.close();
});

const record = (id: string) =>
  service.deps.database.db.collection<Transfer>('transfers').findOne({ _id: id });

test('a permit that takes longer than a call does not end the call before it was made', async () => {
  permits.delayMs = LONGER_THAN_A_CALL_MS;
  // A busy machine may use a delayed permit too late, which returns it.
  const id = await inTries(
    3,
    () => tenant.send(),
    async (sent) => {
      await tenant.waitFor(sent, 'completed');
      return (await record(sent))?.rejected_submissions === 0;
    },
  );
  permits.delayMs = 0;
  expect(permits.delayed).toBeGreaterThan(0);
  expect(await record(id)).toMatchObject({ submissions: 1, rejected_submissions: 0 });
  expect(await service.bank.journal(id)).toHaveLength(1);
});

test('a permit that came too late to be used is returned: it is no submission, and the transfer completes without an operator', async () => {
  permits.delayMs = LONGER_THAN_A_PERMIT_MS;
  const id = await tenant.send();
  await eventually('a permit is returned', async () =>
    Number((await record(id))?.rejected_submissions) >= 1 ? true : undefined,
  );
  // The next permit comes too late as well, as long as it is delayed.
  expect(await service.bank.journal(id)).toHaveLength(0);
  permits.delayMs = 0;
  await tenant.waitFor(id, 'completed');
  const { submissions, rejected_submissions: returned, timeline } = (await record(id)) as Transfer;
  expect(submissions - returned).toBe(1);
  expect(timeline.map(({ type }) => type)).not.toContain('attention_raised');
  expect(await service.bank.journal(id)).toHaveLength(1);
  expect(await service.problems()).toEqual([]);
});
