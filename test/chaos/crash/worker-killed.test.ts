import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';

/**
 * kill -9 of the worker at the worst moments, at a bank that pays a repeated request twice. Temporal times a dead
 * worker's activities out after 20 s, so one test has all cases.
 */
let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  // The worker waits for the bank's answer until it is killed.
  const env = { SANDBOX_BANK_TIMEOUT_MS: '10000' };
  service = await startService({ bank: { deduplicate: false, conclusiveAfterMs: 3_000 }, env });
  tenant = await service.tenant();
});

afterAll(async () => {
  await service?.close();
});

const openOnes = async () =>
  service.deps.database.db
    .collection<Transfer>('transfers')
    .countDocuments({ tenant_id: tenant.id, status: { $in: ['pending', 'processing'] } });

async function restartWorker(meanwhile: () => void = () => undefined) {
  await service.worker.kill();
  const open = await openOnes();
  meanwhile();
  await service.worker.start();
  return open;
}

test('a transfer whose worker dies after the submission and before the answer is recorded is completed, and paid once', async () => {
  // Paid without an answer: the worker is waiting for the answer when it dies.
  const silent = await Promise.all([tenant.send('004'), tenant.send('004'), tenant.send('004')]);
  for (const id of silent) {
    await eventually('the bank has paid', async () =>
      (await service.bank.journal(id)).length > 0 ? true : undefined,
    );
    expect((await tenant.get(id)).status).toBe('processing');
  }

  // Transfers in flight in every state: some slow, some paid with a lost answer, some answered with an error.
  await service.bank.faults([
    { call: 'submit', kind: 'slow', probability: 0.4, ms: 700 },
    { call: 'submit', kind: 'drop_after', probability: 0.4 },
    { call: 'submit', kind: 'error_500', probability: 0.1 },
  ]);
  const many = await Promise.all(Array.from({ length: 30 }, () => tenant.send()));
  await eventually('the bank is in the middle of it', async () =>
    (await service.bank.journal()).length >= silent.length + 4 ? true : undefined,
  );
  // The bank freezes before the worker is back, so that nothing is verified until it thaws.
  expect(await restartWorker(() => service.bank.freeze())).toBeGreaterThan(silent.length);

  // A request in the socket of a frozen bank, which executes it after its sender has died.
  const frozen = await tenant.send();
  await tenant.waitFor(frozen, 'processing');
  expect(await restartWorker()).toBeGreaterThan(silent.length);
  service.bank.thaw();

  for (const id of [...silent, ...many, frozen]) await tenant.waitFor(id, 'completed');
  const paid = (await service.bank.journal()).map(({ reference }) => reference);
  expect(paid.toSorted()).toEqual([...silent, ...many, frozen].toSorted());
  expect(await service.problems()).toEqual([]);
});
