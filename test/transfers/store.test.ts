import { acceptTransfer } from '../../src/capabilities/transfers/mutations.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { creditWallet } from '../../src/capabilities/wallets/create.js';
import type { ReceivedMessage } from '../../src/core/provider-events/receive.js';
import { createProviderEventStore } from '../../src/core/provider-events/store.js';
import type { PaymentState, ResendSafety } from '../../src/core/providers/transfer-provider.js';
import type { Client } from '@temporalio/client';
import { createLog } from '../../src/shared/log.js';
import { transferEventHandler } from '../../src/capabilities/transfers/provider-events.js';
import { createTransfers, type Transfers } from '../../src/capabilities/transfers/store.js';
import type { Transfer } from '../../src/capabilities/transfers/record.js';
import { createSealing } from '../../src/platform/sealing/sealing.js';
import { createProviderEvents, type ProviderEvents } from '../../src/core/provider-events/index.js';
import { createCompletionWaiters } from '../../src/shared/completion-waiter.js';
import { STALLED } from '../../src/core/supervision/stalls.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../support/transfers.js';

const log = createLog({ level: 'silent', name: 'test' });
let database: TestDatabase;
let transfers: Transfers;
let providerEvents: ProviderEvents;

beforeAll(async () => {
  database = await openTestDatabase();
  transfers = createTransfers(database, createGroupCommit(database), 1_000);
  // No workflow runs here, so nothing is notified, and Temporal is not there.
  const handler = transferEventHandler({
    transfers: { store: transfers, starter: { notifyChangedSoon: () => undefined } },
  });
  providerEvents = createProviderEvents({
    config: {
      instructions: { stallTimeoutMs: 1_000, attentionAfterMs: 1_000, pollMaxMs: 1_000 },
      keyPeppers: [{ id: 'p1', secret: 'a pepper of the test' }],
      providerEvents: { retryMs: [1_000], retentionMs: 1_000 },
      temporal: {
        address: '',
        namespace: '',
        taskQueue: '',
        deployment: null,
        uiUrl: null,
        registers: false,
        connection: { address: '' },
      },
    },
    database,
    groupCommit: createGroupCommit(database),
    client: {} as Client,
    providers: { messageReader: () => undefined },
    handlers: [handler],
    startsEagerly: false,
    completionWaiters: createCompletionWaiters(),
    sealing: createSealing([{ id: 'test', secret: Buffer.alloc(32, 's') }]),
    log,
  });
});
afterAll(async () => {
  await database.close();
});

async function accepted(changes: Partial<Transfer> = {}): Promise<Transfer> {
  const transfer = pendingTransfer({ created_at: new Date(), ...changes });
  const { tenant_id: tenantId, total_minor: amountMinor, _id: reference } = transfer;
  await creditWallet(createGroupCommit(database), { tenantId, amountMinor, reference });
  await createGroupCommit(database).commit(acceptTransfer, acceptTransferMutation(transfer));
  return transfer;
}
const now = async ({ tenant_id: tenantId, _id }: Transfer) =>
  (await transfers.get(tenantId, _id)) as Transfer;
const permit = ({ tenant_id: tenantId, _id }: Transfer, submissions: number) =>
  transfers.acquireSubmitPermit({ tenantId, id: _id, submissions });
const paid = { kind: 'succeeded', amountMinor: 250_000n, sessionId: 's' } as const;
const received = (reference: string, state: PaymentState = paid): ReceivedMessage => ({
  port: 'transfers',
  reading: {
    kind: 'event',
    event: {
      dedupeKey: reference,
      reference,
      name: `transfer.${state.kind}`,
      state,
      occurredAt: new Date(),
    },
  },
  message: null,
});

describe('the submit permit', () => {
  test('each submission number is granted once, however many requests are concurrent', async () => {
    const transfer = await accepted();
    const first = await Promise.all(Array.from({ length: 20 }, () => permit(transfer, 0)));
    expect(first.filter((permitted) => permitted !== null)).toHaveLength(1);
    const second = await Promise.all(Array.from({ length: 20 }, () => permit(transfer, 1)));
    expect(second.filter((permitted) => permitted !== null)).toHaveLength(1);
    expect(await permit(transfer, 1)).toBeNull();
    expect(await now(transfer)).toMatchObject({ status: 'processing', submissions: 2 });
  });

  test('a transfer that the bank has acknowledged gets no further permit, unless the bank is idempotent', async () => {
    const transfer = await accepted();
    const { tenant_id: tenantId, _id } = transfer;
    const again = (resendSafety: ResendSafety) =>
      transfers.acquireSubmitPermit({ tenantId, id: _id, submissions: 1 }, resendSafety);
    await permit(transfer, 0);
    await transfers.acknowledge(tenantId, _id);
    expect(await again({ kind: 'conclusive_after', ms: 1 })).toBeNull();
    expect(await again({ kind: 'never' })).toBeNull();
    expect(await again({ kind: 'idempotent', forMs: 0 })).toBeNull();
    expect(await again({ kind: 'idempotent', forMs: 60_000 })).not.toBeNull();
  });

  test('at an idempotent bank no permit is granted after the stated time from the first one, unless all submissions were rejected', async () => {
    const transfer = await accepted();
    const { tenant_id: tenantId, _id } = transfer;
    const forMs = 60_000;
    const again = (submissions: number) =>
      transfers.acquireSubmitPermit(
        { tenantId, id: _id, submissions },
        {
          kind: 'idempotent',
          forMs,
        },
      );
    await permit(transfer, 0);
    expect(await again(1)).not.toBeNull();
    const first = { $set: { first_submitted_at: new Date(Date.now() - forMs) } };
    const records = database.db.collection<Transfer>('transfers');
    await records.updateOne({ _id }, first);
    expect(await again(2)).toBeNull();
    await records.updateOne({ _id }, { $set: { rejected_submissions: 2 } });
    expect(await again(2)).not.toBeNull();
  });

  test('a bank’s message that the transfer is pending is stored as its acknowledgement', async () => {
    const transfer = await accepted();
    await permit(transfer, 0);
    expect(await now(transfer)).toMatchObject({ acknowledged_at: null });
    const event = providerEvents.newEvent(
      'sandbox-bank',
      received(transfer._id, { kind: 'pending' }),
    );
    expect(await providerEvents.store.insert(event)).toBe(true);
    await providerEvents.application.applyFirst(event);
    expect(await now(transfer)).toMatchObject({
      status: 'processing',
      acknowledged_at: expect.any(Date),
    });
  });

  test('an ended transfer gets no submit permit', async () => {
    const transfer = await accepted();
    await transfers.applyFact(transfer.tenant_id, transfer._id, {
      ...byProvider,
      kind: 'rejected',
      code: 'x',
    });
    expect(await permit(transfer, 0)).toBeNull();
  });
});

describe('a name enquiry that is answered after acceptance', () => {
  test('"no such account" fails a transfer that was never submitted, and changes no submitted one', async () => {
    const fact = { ...byProvider, kind: 'no_such_account' } as const;
    const unsubmitted = await accepted();
    await transfers.applyFact(unsubmitted.tenant_id, unsubmitted._id, fact);
    expect(await now(unsubmitted)).toMatchObject({
      status: 'failed',
      failure: { code: 'invalid_account' },
    });

    const submitted = await accepted();
    await permit(submitted, 0);
    await transfers.applyFact(submitted.tenant_id, submitted._id, fact);
    expect(await now(submitted)).toMatchObject({ status: 'processing', failure: null });
  });
});

describe('supervision of transfers', () => {
  test('a postponed transfer is not overdue before its pause and the stall timeout are over', async () => {
    const transfer = await accepted();
    const before = Date.now();
    await transfers.postpone(transfer.tenant_id, transfer._id, 60_000);
    const { next_check_at } = await now(transfer);
    expect(Number(next_check_at) - before).toBeGreaterThanOrEqual(61_000);
    const { claimed } = await transfers.claimDue(100);
    expect(claimed).not.toContainEqual(expect.objectContaining({ _id: transfer._id }));
  });

  test('overdue transfers are found by the partial index', async () => {
    await accepted();
    const plan = await database.db
      .collection('transfers')
      .find({ next_check_at: { $lt: new Date(), $type: 'date' } })
      .sort({ next_check_at: 1 })
      .explain('queryPlanner');
    const stages = JSON.stringify(plan, (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
    expect(stages).toContain('IXSCAN');
    expect(stages).not.toMatch(/COLLSCAN|"SORT"/);
  });

  test('the pause before the next check grows with the time since the last change, between one and ten stall timeouts', async () => {
    const pauseAfter = async (unchangedMs: number) => {
      const { _id: id } = await accepted();
      const before = Date.now();
      const lastActivity = new Date(before - unchangedMs);
      await database.db
        .collection<Transfer>('transfers')
        .updateOne(
          { _id: id },
          { $set: { updated_at: lastActivity, next_check_at: new Date(before - 1) } },
        );
      await transfers.rescheduleCheck([{ _id: id, next_check_at: new Date(before - 1) }]);
      const found = await database.db.collection<Transfer>('transfers').findOne({ _id: id });
      return {
        least: Number(found?.next_check_at) - before,
        most: Number(found?.next_check_at) - Date.now(),
      };
    };
    const stallTimeoutMs = 1_000;
    for (const [unchangedMs, from, to] of [
      // A change in the future, so that the duration of this test does not matter.
      [-60 * stallTimeoutMs, stallTimeoutMs, stallTimeoutMs],
      [3 * stallTimeoutMs, 6 * stallTimeoutMs, 10 * stallTimeoutMs],
      [1_000 * stallTimeoutMs, 10 * stallTimeoutMs, 10 * stallTimeoutMs],
    ] as const) {
      const { least, most } = await pauseAfter(unchangedMs);
      expect(least).toBeGreaterThanOrEqual(from);
      expect(most).toBeLessThanOrEqual(to);
    }
  });

  test('a transfer that is scheduled while the dispatcher starts it stays overdue', async () => {
    const transfer = await accepted();
    const { tenant_id: tenantId, _id: id } = transfer;
    const all = database.db.collection<Transfer>('transfers');
    await all.updateOne({ _id: id }, { $set: { next_check_at: new Date(Date.now() - 60_000) } });
    const { claimed } = await transfers.claimDue(1_000);
    const found = claimed.filter(({ _id }) => _id === id);
    await transfers.scheduleOwnWorkflows(tenantId, [id]);
    await transfers.rescheduleCheck(found);
    expect(Number((await now(transfer)).next_check_at)).toBeLessThanOrEqual(Date.now());
  });

  test('after a restore, an open transfer gets no permit that a lost database has granted, and counts as submitted', async () => {
    const [fresh, refused, unknown] = [await accepted(), await accepted(), await accepted()];
    const permit = ({ tenant_id: tenantId, _id }: Transfer, submissions: number) =>
      transfers.acquireSubmitPermit(
        { tenantId, id: _id, submissions },
        {
          kind: 'idempotent',
          forMs: null,
        },
      );
    for (const one of [refused, unknown]) await permit(one, 0);
    const all = database.db.collection<Transfer>('transfers');
    await all.updateOne({ _id: refused._id }, { $set: { rejected_submissions: 1 } });
    const possible = async (of: Transfer) => {
      const { submissions, rejected_submissions: rejected } = await now(of);
      return submissions - rejected;
    };
    // A repeat, after a crash for example, changes nothing that counts.
    for (let n = 0; n < 2; n += 1) {
      expect(await transfers.presumeSubmitted()).toBeGreaterThanOrEqual(3);
      expect(await now(fresh)).toMatchObject({
        status: 'processing',
        first_submitted_at: fresh.created_at,
      });
      for (const one of [fresh, refused, unknown]) {
        expect(await possible(one)).toBe(1);
        // Neither a run that knows the number of the backup gets a permit, nor one that knows a later one.
        for (const submissions of [0, 1, 2, 3, 100]) {
          expect(await permit(one, submissions)).toBeNull();
        }
      }
    }
    // A run that has read the record, and has found nothing at its provider, submits it.
    expect(await permit(fresh, (await now(fresh)).submissions)).not.toBeNull();
  });

  test('an ended transfer has no next check unless it needs an operator', async () => {
    const transfer = await accepted();
    const { tenant_id: tenantId, _id: id } = transfer;
    await transfers.applyFact(tenantId, id, { ...byProvider, kind: 'rejected', code: 'x' });
    expect(await now(transfer)).toMatchObject({ next_check_at: null });
    await transfers.applyFact(tenantId, id, { ...byProvider, ...paid });
    expect(await now(transfer)).toMatchObject({
      in_suspense: true,
      next_check_at: expect.any(Date),
    });
  });

  test('monitoring ends after its time, and the transfer has no next check', async () => {
    const transfer = await accepted();
    const { tenant_id: tenantId, _id: id } = transfer;
    await permit(transfer, 0);
    await transfers.applyFact(tenantId, id, {
      ...byProvider,
      via: 'operator',
      kind: 'rejected',
      code: 'operator',
    });
    expect(await now(transfer)).toMatchObject({
      monitor_until: expect.any(Date),
      next_check_at: expect.any(Date),
    });
    await transfers.endMonitoring(tenantId, id);
    expect(await now(transfer)).toMatchObject({ monitor_until: expect.any(Date) });
    await database.db
      .collection<Transfer>('transfers')
      .updateOne({ _id: id }, { $set: { monitor_until: new Date(0) } });
    await transfers.endMonitoring(tenantId, id);
    expect(await now(transfer)).toMatchObject({ monitor_until: null, next_check_at: null });
  });

  test('monitoring that ends while the watchdog calls has no next check, and the call ends', async () => {
    const transfer = await accepted();
    const { tenant_id: tenantId, _id: id } = transfer;
    await permit(transfer, 0);
    const failed = { kind: 'rejected', code: 'operator' } as const;
    await transfers.applyFact(tenantId, id, { ...byProvider, via: 'operator', ...failed });
    const attention = { since: new Date(0), reason: STALLED };
    await database.db
      .collection<Transfer>('transfers')
      .updateOne({ _id: id }, { $set: { monitor_until: new Date(0), attention } });
    const { version } = await now(transfer);
    await transfers.endMonitoring(tenantId, id);
    const ended = { monitor_until: null, next_check_at: null, attention: null };
    const stored = await now(transfer);
    expect(stored).toMatchObject({ ...ended, version: version + 1 });
    expect(stored.timeline.at(-1)).toMatchObject({ type: 'attention_cleared', detail: STALLED });
  });

  test('monitoring that ends while an operator is called for something else keeps the call and the next check', async () => {
    const transfer = await accepted();
    const { tenant_id: tenantId, _id: id } = transfer;
    const attention = { since: new Date(0), reason: 'paid twice' };
    await database.db
      .collection<Transfer>('transfers')
      .updateOne({ _id: id }, { $set: { monitor_until: new Date(0), attention } });
    const before = await now(transfer);
    await transfers.endMonitoring(tenantId, id);
    const { version } = before;
    expect(await now(transfer)).toEqual({ ...before, monitor_until: null, version: version + 1 });
  });
});

describe('provider events', () => {
  test('a provider speaks about its own payments only', async () => {
    const transfer = await accepted();
    await permit(transfer, 0);
    const event = providerEvents.newEvent('another-bank', received(transfer._id));
    expect(await providerEvents.store.insert(event)).toBe(true);
    expect(await providerEvents.application.applyFirst(event)).toEqual({ kind: 'retry' });
    expect(await now(transfer)).toMatchObject({ status: 'processing' });
    expect(
      await providerEvents.application.applyProviderEvent({ id: event._id, nextMs: null }),
    ).toEqual({ kind: 'failed', reason: 'unknown_reference' });
    expect(await now(transfer)).toMatchObject({ status: 'processing' });
  });

  test('a repeat is stored once, and an event that no process applied is due for its workflow', async () => {
    const transfer = await accepted();
    await permit(transfer, 0);
    const message = received(transfer._id);
    expect(await providerEvents.receive('sandbox-bank', message)).toMatchObject({ stored: true });
    expect(await providerEvents.receive('sandbox-bank', message)).toMatchObject({ stored: false });
    const { store } = createLater();
    const {
      claimed: [event, ...more],
    } = await store.claimDue(10);
    expect(more).toEqual([]);
    const id = String(event?._id);
    expect(await providerEvents.application.applyProviderEvent({ id, nextMs: null })).toEqual({
      kind: 'done',
    });
    expect(await store.claimDue(10)).toEqual({ claimed: [], more: false });
    expect(await now(transfer)).toMatchObject({ status: 'completed' });
  });

  /** The store as it is a minute later. */
  const createLater = () => ({
    store: createProviderEventStore(database, 1_000, () => new Date(Date.now() + 60_000)),
  });
});
