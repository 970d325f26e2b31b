import { createGroupCommit } from '../../src/ledger/group-commit.js';
import { creditWallet } from '../../src/ledger/credit.js';
import { createLog } from '../../src/log.js';
import { transferApplier, transferCallback } from '../../src/transfers/callback.js';
import { createTransfers, type Transfers } from '../../src/transfers/store.js';
import type { Transfer } from '../../src/transfers/transfer.js';
import { createCallbacks, type Applier, type Callbacks } from '../../src/webhooks/callbacks.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { acceptItem, byProvider, pendingTransfer } from '../support/transfers.js';

const log = createLog({ level: 'silent', name: 'test' });
let database: TestDatabase;
let transfers: Transfers;
let callbacks: Callbacks;
let appliers: { transfer: Applier };

beforeAll(async () => {
  database = await openTestDatabase();
  transfers = createTransfers(database, createGroupCommit(database), 1_000);
  // Nothing is driven here: what would be woken is not there.
  appliers = {
    transfer: transferApplier({ transfers, starter: { wakeSoon: () => undefined }, log }),
  };
  callbacks = createCallbacks(database, { appliers, log });
});
afterAll(async () => {
  await database.close();
});

async function accepted(changes: Partial<Transfer> = {}): Promise<Transfer> {
  const transfer = pendingTransfer({ created_at: new Date(), ...changes });
  const { tenant, total_minor: amountMinor, _id: reference } = transfer;
  await creditWallet(createGroupCommit(database), { tenant, amountMinor, reference });
  await transfers.accept(acceptItem(transfer));
  return transfer;
}
const now = async ({ tenant, _id }: Transfer) => (await transfers.get(tenant, _id)) as Transfer;
const permit = ({ tenant, _id }: Transfer, sends: number) =>
  transfers.permitSend(tenant, _id, sends, false);
const paid = { kind: 'paid', amountMinor: 250_000n, sessionId: 's' } as const;
const callback = (reference: string, dedupeKey = reference) => ({
  dedupeKey,
  reference,
  state: paid,
  occurredAt: new Date(),
});

describe('the permission to send', () => {
  test('is given once, whoever asks and however many at once', async () => {
    const transfer = await accepted();
    const first = await Promise.all(Array.from({ length: 20 }, () => permit(transfer, 0)));
    expect(first.filter((permitted) => permitted !== null)).toHaveLength(1);
    const second = await Promise.all(Array.from({ length: 20 }, () => permit(transfer, 1)));
    expect(second.filter((permitted) => permitted !== null)).toHaveLength(1);
    expect(await permit(transfer, 1)).toBeNull();
    expect(await now(transfer)).toMatchObject({ status: 'processing', sends: 2 });
  });

  test('is never given for what has ended', async () => {
    const transfer = await accepted();
    await transfers.applyFact(transfer.tenant, transfer._id, {
      ...byProvider,
      kind: 'refused',
      code: 'x',
    });
    expect(await permit(transfer, 0)).toBeNull();
  });
});

describe('a name enquiry that comes late', () => {
  test('ends a transfer that never left us, and says nothing about one that did', async () => {
    const fact = { ...byProvider, kind: 'no_such_account' } as const;
    const unsent = await accepted();
    await transfers.applyFact(unsent.tenant, unsent._id, fact);
    expect(await now(unsent)).toMatchObject({
      status: 'failed',
      failure: { code: 'invalid_account' },
    });

    const sent = await accepted();
    await permit(sent, 0);
    await transfers.applyFact(sent.tenant, sent._id, fact);
    expect(await now(sent)).toMatchObject({ status: 'processing', failure: null });
  });
});

describe('the sweep', () => {
  test('leaves alone what somebody goes on with after a pause, for that pause and its own slack', async () => {
    const transfer = await accepted();
    const before = Date.now();
    await transfers.postpone(transfer.tenant, transfer._id, 60_000);
    const { due_at } = await now(transfer);
    expect(Number(due_at) - before).toBeGreaterThanOrEqual(61_000);
    expect(await transfers.due(100)).not.toContainEqual(
      expect.objectContaining({ _id: transfer._id }),
    );
  });

  test('finds what is due by its small index, whatever else is stored', async () => {
    await accepted();
    const plan = await database.db
      .collection('transfers')
      .find({ due_at: { $lt: new Date(), $type: 'date' } })
      .sort({ due_at: 1 })
      .explain('queryPlanner');
    const stages = JSON.stringify(plan, (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
    expect(stages).toContain('IXSCAN');
    expect(stages).not.toMatch(/COLLSCAN|"SORT"/);
  });

  test('the longer a transfer has been silent, the later it is looked at again; never sooner than the slack, nor for ever', async () => {
    const pauseAfter = async (silentMs: number) => {
      const { _id: id } = await accepted();
      const before = Date.now();
      const silentSince = new Date(before - silentMs);
      await database.db
        .collection<Transfer>('transfers')
        .updateOne(
          { _id: id },
          { $set: { updated_at: silentSince, due_at: new Date(before - 1) } },
        );
      await transfers.postponeDue([{ _id: id, due_at: new Date(before - 1) }]);
      const found = await database.db.collection<Transfer>('transfers').findOne({ _id: id });
      return { least: Number(found?.due_at) - before, most: Number(found?.due_at) - Date.now() };
    };
    const slackMs = 1_000;
    for (const [silentMs, from, to] of [
      // Heard of just now, however long this takes to ask.
      [-60 * slackMs, slackMs, slackMs],
      [3 * slackMs, 6 * slackMs, 10 * slackMs],
      [1_000 * slackMs, 10 * slackMs, 10 * slackMs],
    ] as const) {
      const { least, most } = await pauseAfter(silentMs);
      expect(least).toBeGreaterThanOrEqual(from);
      expect(most).toBeLessThanOrEqual(to);
    }
  });

  test('what is handed over while the sweep starts it stays due', async () => {
    const transfer = await accepted();
    const { tenant, _id: id } = transfer;
    const all = database.db.collection<Transfer>('transfers');
    await all.updateOne({ _id: id }, { $set: { due_at: new Date(Date.now() - 60_000) } });
    const found = (await transfers.due(1_000)).filter(({ _id }) => _id === id);
    await transfers.handOver(tenant, [id]);
    await transfers.postponeDue(found);
    expect(Number((await now(transfer)).due_at)).toBeLessThanOrEqual(Date.now());
  });

  test('an ended transfer is due no more; one that needs an operator stays due', async () => {
    const transfer = await accepted();
    const { tenant, _id: id } = transfer;
    await transfers.applyFact(tenant, id, { ...byProvider, kind: 'refused', code: 'x' });
    expect(await now(transfer)).toMatchObject({ due_at: null });
    await transfers.applyFact(tenant, id, { ...byProvider, ...paid });
    expect(await now(transfer)).toMatchObject({ in_suspense: true, due_at: expect.any(Date) });
  });

  test('a watch whose time is over ends, and the transfer is due no more', async () => {
    const transfer = await accepted();
    const { tenant, _id: id } = transfer;
    await permit(transfer, 0);
    await transfers.applyFact(tenant, id, {
      ...byProvider,
      via: 'operator',
      kind: 'refused',
      code: 'operator',
    });
    expect(await now(transfer)).toMatchObject({
      watch_until: expect.any(Date),
      due_at: expect.any(Date),
    });
    await transfers.endWatch(tenant, id);
    expect(await now(transfer)).toMatchObject({ watch_until: expect.any(Date) });
    await database.db
      .collection<Transfer>('transfers')
      .updateOne({ _id: id }, { $set: { watch_until: new Date(0) } });
    await transfers.endWatch(tenant, id);
    expect(await now(transfer)).toMatchObject({ watch_until: null, due_at: null });
  });
});

describe('callbacks', () => {
  test('a provider speaks about its own payments only', async () => {
    const transfer = await accepted();
    await permit(transfer, 0);
    const stored = await callbacks.store('another-bank', transferCallback(callback(transfer._id)));
    if (!stored) throw new Error('it is the first of its kind');
    await callbacks.apply(stored);
    expect(await now(transfer)).toMatchObject({ status: 'processing' });
  });

  test('a repeat is stored once, and what was stored and left is applied by the sweep', async () => {
    const transfer = await accepted();
    await permit(transfer, 0);
    const later = new Date(Date.now() + 60_000);
    expect(
      await callbacks.store('sandbox-bank', transferCallback(callback(transfer._id))),
    ).not.toBeNull();
    expect(
      await callbacks.store('sandbox-bank', transferCallback(callback(transfer._id))),
    ).toBeNull();
    const sweeper = createCallbacks(database, { appliers, log, clock: () => later });
    expect(await sweeper.sweep(10)).toBe(1);
    expect(await sweeper.sweep(10)).toBe(0);
    expect(await now(transfer)).toMatchObject({ status: 'completed' });
  });
});
