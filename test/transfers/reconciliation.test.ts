import { acceptTransfer } from '../../src/capabilities/transfers/mutations.js';
import { reconcileNextPage } from '../../src/capabilities/transfers/reconciliation.js';
import type { Transfer } from '../../src/capabilities/transfers/record.js';
import { createTransfers, type Transfers } from '../../src/capabilities/transfers/store.js';
import type { ReconciliationPosition } from '../../src/capabilities/transfers/workflow-contract.js';
import { creditWallet } from '../../src/capabilities/wallets/create.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import type { ListAnswer, VerifyAnswer } from '../../src/core/providers/transfer-provider.js';
import { createBreaks } from '../../src/core/reconciliation/breaks.js';
import { newId } from '../../src/shared/ids.js';
import { createLog } from '../../src/shared/log.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../support/transfers.js';

let database: TestDatabase;
let transfers: Transfers;
/** No record of this time is in flight any more. */
const EARLIER = new Date(Date.now() - 3_600_000);

beforeEach(async () => {
  database = await openTestDatabase();
  transfers = createTransfers(database, createGroupCommit(database), 1_000);
});
afterEach(() => database.close());

/** A transfer that was paid an hour ago. */
async function paid(provider = 'bank'): Promise<Transfer> {
  const transfer = pendingTransfer({ created_at: EARLIER, provider });
  const { tenant_id: tenantId, total_minor: amountMinor, _id: id } = transfer;
  const groupCommit = createGroupCommit(database);
  await creditWallet(groupCommit, { tenantId, amountMinor, reference: id });
  await groupCommit.commit(acceptTransfer, acceptTransferMutation(transfer));
  const success = { kind: 'succeeded', amountMinor: null, sessionId: 's' } as const;
  await transfers.applyFact(tenantId, id, { ...byProvider, ...success });
  await database.db
    .collection<Transfer>('transfers')
    .updateOne({ _id: id }, { $set: { updated_at: EARLIER } });
  return transfer;
}

const reversed: VerifyAnswer = {
  kind: 'reversed',
  amountMinor: null,
  sessionId: null,
  providerRequestId: null,
};
const silent = { kind: 'unknown', reason: 'timeout', providerRequestId: null } as const;

type List = (page: { cursor: string | null }, signal: AbortSignal) => Promise<ListAnswer>;

/** Compares a page of the transfers of the provider `bank`, which has taken back every payment. */
const comparePage = ({
  position = null,
  perSecond = 1_000,
  list,
  signal = new AbortController().signal,
}: {
  position?: ReconciliationPosition | null;
  perSecond?: number;
  list?: List;
  signal?: AbortSignal;
} = {}) =>
  reconcileNextPage(
    {
      transfers: { store: transfers, starter: { notifyChangedSoon: () => undefined } },
      providers: {
        find: (name: string) =>
          ({ name, verify: async () => reversed, ...(list && { list }) }) as never,
      },
      callRates: { takeWithin: async () => true },
      answered: undefined,
      providerEvents: {} as never,
      breaks: createBreaks(database.db),
      log: createLog({ level: 'silent', name: 'test' }),
    },
    { provider: 'bank', days: 1, perSecond, position },
    signal,
  );

test('a transfer whose reversal the store refuses stays a break, and those after it are compared', async () => {
  const [blocked, after] = [await paid(), await paid()];
  // Another posting has the id of the reversal.
  const postings = database.db.collection<{ _id: string }>('postings');
  const some = await postings.findOne({ _id: `${after._id}/hold` });
  await postings.insertOne({ ...some, _id: `${blocked._id}/reversal` });

  const { counts, position } = await comparePage();
  expect(position).toBeNull();
  expect(counts).toEqual({ asked: 2, unanswered: 0, differing: 2, settled: 1 });
  expect((await transfers.get(blocked.tenant_id, blocked._id))?.status).toBe('completed');
  expect((await transfers.get(after.tenant_id, after._id))?.status).toBe('failed');
  const open = await createBreaks(database.db).list({ status: 'open', limit: 10 });
  expect(open.map(({ reference }) => reference)).toEqual([blocked._id]);
});

test('a page has transfers of its provider, however many of another one were created between them', async () => {
  const others = Array.from({ length: 20 }, () =>
    pendingTransfer({ _id: newId('transfer'), provider: 'other', created_at: EARLIER }),
  );
  await database.db.collection<Transfer>('transfers').insertMany(others);
  const { _id: id } = await paid();
  const { counts, position } = await comparePage({ perSecond: 0.1 });
  expect(counts).toMatchObject({ asked: 1, settled: 1 });
  expect(position).toMatchObject({ after: id });
});

test('the search of a provider’s list goes on at the page that it has reached, and ends with the list', async () => {
  const read: (string | null)[] = [];
  const down = { is: false };
  const list: List = async ({ cursor }) => {
    if (cursor === '2' && down.is) return silent;
    read.push(cursor);
    const next = cursor === null ? '1' : cursor === '1' ? '2' : null;
    return { kind: 'page', items: [], next, providerRequestId: null };
  };
  const first = await comparePage({ list });
  expect([read, first.position?.list?.cursor]).toEqual([[], null]);
  down.is = true;
  const second = await comparePage({ list, position: first.position });
  expect([read, second.position?.list?.cursor]).toEqual([[null, '1'], '2']);
  expect(second.counts).toMatchObject({ asked: 0, unanswered: 0 });
  // The workflow repeats a page of which nothing was answered, and leaves the rest of the list after some repeats.
  const silentPage = await comparePage({ list, position: second.position });
  expect(silentPage).toMatchObject({ counts: { asked: 1, unanswered: 1 }, position: null });
  down.is = false;
  const last = await comparePage({ list, position: second.position });
  expect([read, last.position]).toEqual([[null, '1', '2'], null]);
});

test('an attempt that was given up makes no further call, and ends', async () => {
  const controller = new AbortController();
  const signals: AbortSignal[] = [];
  const list: List = async (_, signal) => {
    signals.push(signal);
    controller.abort(new Error('given up'));
    return { kind: 'page', items: [], next: 'next', providerRequestId: null };
  };
  const { signal } = controller;
  const { position } = await comparePage({ list, signal });
  await expect(comparePage({ list, signal, position })).rejects.toThrow('given up');
  expect(signals).toEqual([signal]);
});
