import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { transfers, type Transfer } from '../../../src/capabilities/transfers/transfer.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import type { Mutation, MutationInput } from '../../../src/core/commit/mutation.js';
import { lagosDay } from '../../../src/core/ledger/wallet.js';
import { newId } from '../../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { commitNamed } from '../../support/mutations.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../../support/transfers.js';

const DAY_MS = 24 * 60 * 60 * 1000;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const wallets = () =>
  database.db.collection<{ _id: string; limit_day: string; limit_used_minor: bigint }>('wallets');
const stored = () => database.db.collection<Transfer>('transfers');
const commit = () => createGroupCommit(database);

async function tenantWith(amountMinor: bigint): Promise<string> {
  const tenantId = newId('tenant');
  await creditWallet(commit(), { tenantId, amountMinor, reference: 'start' });
  return tenantId;
}

/** Rewrites a transfer with the fields of this version only, as a mutation may that builds the record anew. */
const rewriteTransfer: Mutation<MutationInput & { id: string }, null> = {
  reads: ({ id }) => ({ records: [transfers.ref(id)] }),
  decide(uow, { id }) {
    const found = uow.get(transfers, id) as Transfer & { newer?: unknown };
    const { newer: _, ...known } = found;
    uow.change(transfers, { ...known, version: known.version + 1 });
    return null;
  },
};

describe('a process of an older version, or with a wrong clock', () => {
  test('keeps the fields of wallets and records that it does not know', async () => {
    const tenantId = await tenantWith(1_000_000n);
    const transfer = pendingTransfer({ tenant_id: tenantId });
    const newer = { field: 'of a newer version' };
    await wallets().updateOne({ _id: tenantId }, { $set: { newer } });
    await commitNamed(commit(), acceptTransferMutation(transfer));
    await stored().updateOne({ _id: transfer._id }, { $set: { newer } });
    await commit().commit(rewriteTransfer, { tenantId, id: transfer._id });
    const fact = { ...byProvider, kind: 'rejected', code: 'account_closed' } as const;
    const about = { tenantId, id: transfer._id };
    await commitNamed(commit(), { kind: 'applyTransferFact', ...about, fact });
    await creditWallet(commit(), { tenantId, amountMinor: 1n, reference: 'more' });
    expect(await wallets().findOne({ _id: tenantId })).toMatchObject({ newer });
    expect(await stored().findOne({ _id: transfer._id })).toMatchObject({
      status: 'failed',
      newer,
    });
  });

  test('does not move the day of a limit past the day of the database server', async () => {
    const tenantId = await tenantWith(10_000_000n);
    const accept = (limitDay: string) =>
      commitNamed(
        commit(),
        acceptTransferMutation(pendingTransfer({ tenant_id: tenantId, limit_day: limitDay })),
      );
    const today = lagosDay(new Date());
    await accept(today);
    const ahead = new Date(Date.now() + 30 * DAY_MS);
    const clock = globalThis.Date;
    // The clock of this process, a month ahead.
    globalThis.Date = class extends clock {
      constructor(...given: [] | [number]) {
        super(given.length === 0 ? ahead.getTime() : given[0]);
      }
    } as DateConstructor;
    try {
      await accept(lagosDay(ahead));
    } finally {
      globalThis.Date = clock;
    }
    await accept(today);
    const wallet = await wallets().findOne({ _id: tenantId });
    expect(wallet?.limit_day).toBe(lagosDay(new Date()));
    expect(wallet?.limit_used_minor).toBe(750_000n);
  });
});
