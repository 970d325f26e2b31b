import { createCallRates } from '../../../src/core/providers/call-rates.js';
import { acceptTransfer } from '../../../src/capabilities/transfers/mutations.js';
import type { ActivityDeps } from '../../../activities/index.js';
import { withEmptyParts } from '../../support/parts.js';
import { audits } from '../../../src/composition/capabilities.js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { findEngine } from '../../../devstack/find.js';
import { createProviderFaults } from '../../../src/core/providers/faults.js';
import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { noLocalSubmissions } from '../../../src/core/instructions/local-submission-limiter.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import { auditLedger } from '../../../src/core/ledger/audit.js';
import { createLog } from '../../../src/shared/log.js';
import { createSandboxBankProvider } from '../../../src/core/providers/sandbox-bank/adapter.js';
import { startSandboxBank } from '../../../sandbox-bank/server.js';
import type { TransferInput } from '../../../src/capabilities/transfers/workflow-contract.js';
import {
  createBulkTransferStore,
  type BulkTransferStore,
} from '../../../src/capabilities/bulk-transfers/store.js';
import { createTransfers, type Transfers } from '../../../src/capabilities/transfers/store.js';
import { transferWorkflowId, type Transfer } from '../../../src/capabilities/transfers/record.js';
import { createWorkers } from '../../../worker/worker.js';
import { bankAudit } from '../../support/bank.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { acceptTransferMutation, pendingTransfer } from '../../support/transfers.js';
import { installQuietRuntime } from '../../support/quiet-runtime.js';

/** The server's number for the type of `attention`. */
const INDEXED_VALUE_TYPE_BOOL = 5;
const HOUR_MS = 60 * 60 * 1000;
const secret = 'a secret of the sandbox bank';
const folder = mkdtempSync(join(tmpdir(), 'bursar-time-'));

let environment: TestWorkflowEnvironment;
let database: TestDatabase;
let transfers: Transfers;
let bulkTransfers: BulkTransferStore;
let bank: Awaited<ReturnType<typeof startSandboxBank>>;

beforeAll(async () => {
  installQuietRuntime();
  const { binary } = await findEngine('temporal-test-server', process.env, () => undefined);
  environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: binary } },
  });
  await environment.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: { NeedsAttention: INDEXED_VALUE_TYPE_BOOL },
  });
  database = await openTestDatabase();
  const groupCommit = createGroupCommit(database);
  transfers = createTransfers(database, groupCommit, 1_000);
  bulkTransfers = createBulkTransferStore(database, 1_000);
  // Without callbacks, every outcome comes from a poll.
  bank = await startSandboxBank({
    port: 0,
    host: '127.0.0.1',
    dataDir: folder,
    secret,
    deduplicate: true,
    conclusiveAfterMs: 5_000,
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
    tenantId: transfer.tenant_id,
    amountMinor: transfer.total_minor,
    reference: transfer._id,
  });
  await createGroupCommit(database).commit(acceptTransfer, acceptTransferMutation(transfer));
  return transfer;
}

/** Runs a transfer's workflow on the skipping clock, with the real store and the real bank. */
async function drive(transfer: Transfer, during: (hour: () => Promise<void>) => Promise<void>) {
  const provider = createSandboxBankProvider({
    url: bank.url,
    secret,
    deduplicates: true,
    deduplicatesForMs: null,
    conclusiveAfterMs: 5_000,
    timeoutMs: 2_000,
    callsPerSecond: 1_000,
  });
  const log = createLog({ level: 'silent', name: 'test' });
  const limits = [
    { name: `${provider.name}-transfers`, callsPerSecond: 1_000, bulkTransfersOf: provider.name },
  ];
  const workers = await createWorkers({
    connection: environment.nativeConnection,
    namespace: 'default',
    taskQueue: transfer._id,
    workflowBundle: { codePath: String(process.env.BURSAR_TEST_BUNDLE) },
    providers: limits,
    activities: withEmptyParts({
      callRates: createCallRates({ limits, workers: () => 1 }),
      transfers: { store: transfers },
      bulkTransfers: { store: bulkTransfers },
      providers: { all: [provider], transfer: () => provider },
      localSubmissions: noLocalSubmissions,
      providerFaults: createProviderFaults({ db: database.db, log }),
      webhooks: { deliverWaiting: async () => ({ kind: 'closed' }) },
      log,
    } as unknown as ActivityDeps),
  });
  const running = Promise.all(workers.map((worker) => worker.run()));
  const input: TransferInput = {
    id: transfer._id,
    tenantId: transfer.tenant_id,
    rateLimitKey: `${provider.name}-transfers`,
    taskQueue: `${transfer._id}-${provider.name}-transfers`,
    acceptedAtMs: Date.now(),
    recipientKnown: true,
    policy: {
      attentionAfterMs: 24 * HOUR_MS,
      pollMaxMs: HOUR_MS / 6,
      maxSubmissions: 4,
      maxErrors: 12,
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

const now = async ({ tenant_id: tenantId, _id }: Transfer) =>
  (await transfers.get(tenantId, _id)) as Transfer;

describe('a transfer over hours', () => {
  test('a pending transfer is polled and held for a day, calls an operator once, and completes when the bank reports it paid', async () => {
    const transfer = await accept('0123456006');
    await drive(transfer, async (hour) => {
      for (let i = 0; i < 23; i += 1) await hour();
      const before = await now(transfer);
      expect(before).toMatchObject({ status: 'processing', attention: null });
      // Polls are at most ten minutes apart, and hardly more frequent.
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
      expect((await auditLedger(database, audits)).problems).toEqual([]);

      await bankAudit(bank.url).setTransferOutcome(transfer._id, 'paid');
    });
    expect(await now(transfer)).toMatchObject({
      status: 'completed',
      attention: null,
      submissions: 1,
    });
    expect((await auditLedger(database, audits)).problems).toEqual([]);
  });
});
