import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { findEngine } from '../../src/engines/find.js';
import { creditWallet } from '../../src/ledger/credit.js';
import { noFirstTries } from '../../src/pursuits/first-try.js';
import { createGroupCommit } from '../../src/ledger/group-commit.js';
import { auditLedger } from '../../src/ledger/audit.js';
import { createLog } from '../../src/log.js';
import { createSandboxBankProvider } from '../../src/providers/sandbox-bank/adapter.js';
import { startSandboxBank } from '../../src/sandbox-bank/server.js';
import type { TransferInput } from '../../src/transfers/reports.js';
import { createBatches, type Batches } from '../../src/transfers/batches.js';
import { createTransfers, type Transfers } from '../../src/transfers/store.js';
import { transferWorkflowId, type Transfer } from '../../src/transfers/transfer.js';
import { createWorkers } from '../../worker/worker.js';
import { bankAudit } from '../../test/support/bank.js';
import { openTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { acceptItem, pendingTransfer } from '../../test/support/transfers.js';

/** The server's number for the type of `attention`. */
const INDEXED_VALUE_TYPE_BOOL = 5;
const HOUR_MS = 60 * 60 * 1000;
const secret = 'a secret of the sandbox bank';
const folder = mkdtempSync(join(tmpdir(), 'bursar-time-'));

let environment: TestWorkflowEnvironment;
let database: TestDatabase;
let transfers: Transfers;
let batches: Batches;
let bank: Awaited<ReturnType<typeof startSandboxBank>>;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const { binary } = await findEngine('temporal-test-server', process.env, () => undefined);
  environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: binary } },
  });
  await environment.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: { attention: INDEXED_VALUE_TYPE_BOOL },
  });
  database = await openTestDatabase();
  const groupCommit = createGroupCommit(database);
  transfers = createTransfers(database, groupCommit, 1_000);
  batches = createBatches(database, groupCommit, 1_000);
  // Without callbacks: only asking finds anything out, so every answer is a poll.
  bank = await startSandboxBank({
    port: 0,
    host: '127.0.0.1',
    dataDir: folder,
    secret,
    deduplicate: true,
    finalAfterMs: 5_000,
  });
});
afterAll(async () => {
  await bank?.close();
  await database?.close();
  await environment?.teardown();
  rmSync(folder, { recursive: true, force: true });
});

async function accept(account: string): Promise<Transfer> {
  const transfer = pendingTransfer({
    created_at: new Date(),
    recipient: { account, bank_code: '058', name: 'A', bank: 'B' },
  });
  await creditWallet(createGroupCommit(database), {
    tenant: transfer.tenant,
    amountMinor: transfer.total_minor,
    reference: transfer._id,
  });
  await transfers.accept(acceptItem(transfer));
  return transfer;
}

/** Runs a transfer's workflow on the skipping clock, with the real store and the real bank. */
async function drive(transfer: Transfer, during: (hour: () => Promise<void>) => Promise<void>) {
  const provider = createSandboxBankProvider({
    url: bank.url,
    secret,
    deduplicates: true,
    finalAfterMs: 5_000,
    timeoutMs: 2_000,
    callsPerSecond: 1_000,
  });
  const workers = await createWorkers({
    connection: environment.nativeConnection,
    namespace: 'default',
    taskQueue: transfer._id,
    workflowBundle: { codePath: String(process.env.BURSAR_TEST_BUNDLE) },
    providers: [{ name: provider.name, callsPerSecond: 1_000, batches: true }],
    activities: {
      transfers,
      batches,
      providers: { transfer: () => provider },
      firstTries: noFirstTries,
      webhooks: { retry: async () => ({ kind: 'closed' }) },
      log: createLog({ level: 'silent', name: 'test' }),
      // Of cards nothing is used.
    } as unknown as Parameters<typeof createWorkers>[0]['activities'],
  });
  const running = Promise.all(workers.map((worker) => worker.run()));
  const input: TransferInput = {
    id: transfer._id,
    tenant: transfer.tenant,
    provider: provider.name,
    providerQueue: `${transfer._id}-${provider.name}`,
    acceptedAtMs: Date.now(),
    recipientKnown: true,
    policy: {
      attentionAfterMs: 24 * HOUR_MS,
      pollMaxMs: HOUR_MS / 6,
    },
  };
  try {
    const handle = await environment.client.workflow.start('transfer', {
      workflowId: transferWorkflowId(transfer._id),
      taskQueue: transfer._id,
      args: [input],
    });
    await during(() => environment.sleep(HOUR_MS));
    await handle.result();
  } finally {
    for (const worker of workers) worker.shutdown();
    await running;
  }
}

const now = async ({ tenant, _id }: Transfer) => (await transfers.get(tenant, _id)) as Transfer;

describe('a transfer over hours', () => {
  test('is polled for a day, held all the time, calls an operator once, goes on, and ends when the bank says paid', async () => {
    const transfer = await accept('0123456006');
    await drive(transfer, async (hour) => {
      for (let i = 0; i < 23; i += 1) await hour();
      const before = await now(transfer);
      expect(before).toMatchObject({ status: 'processing', attention: null });
      // Ten minutes apart at the most, and not much more often than that.
      expect(before.polls).toBeGreaterThan(6 * 22);
      expect(before.polls).toBeLessThan(6 * 24 + 20);

      for (let i = 0; i < 7; i += 1) await hour();
      const stuck = await now(transfer);
      expect(stuck).toMatchObject({
        status: 'processing',
        attention: { reason: expect.any(String) },
      });
      expect(stuck.timeline.filter(({ type }) => type === 'attention_raised')).toHaveLength(1);
      expect(stuck.polls).toBeGreaterThan(before.polls);
      expect((await auditLedger(database)).problems).toEqual([]);

      await bankAudit(bank.url).tell(transfer._id, 'paid');
    });
    expect(await now(transfer)).toMatchObject({ status: 'completed', attention: null, sends: 1 });
    expect((await auditLedger(database)).problems).toEqual([]);
  });
});
