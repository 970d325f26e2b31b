import type { CardAuthorization } from '../../../src/capabilities/card-authorizations/record.js';
import { OPEN_SECURITY, type Card } from '../../../src/capabilities/cards/record.js';
import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { transfers, type Transfer } from '../../../src/capabilities/transfers/record.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import { saveRefusal } from '../../../src/core/idempotency/save-refusal.js';
import type { Mutation, MutationInput } from '../../../src/core/commit/mutation.js';
import { lagosDay } from '../../../src/core/ledger/wallet.js';
import { newId } from '../../../src/shared/ids.js';
import { decideAuthorizationMutation } from '../../support/authorizations.js';
import { openCard } from '../../support/card-record.js';
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

/** Runs with the clock of this process a month ahead. */
async function aMonthAhead(run: (ahead: Date) => Promise<unknown>): Promise<void> {
  const ahead = new Date(Date.now() + 30 * DAY_MS);
  const clock = globalThis.Date;
  globalThis.Date = class extends clock {
    constructor(...given: [] | [number]) {
      super(given.length === 0 ? ahead.getTime() : given[0]);
    }
  } as DateConstructor;
  try {
    await run(ahead);
  } finally {
    globalThis.Date = clock;
  }
}

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
    await aMonthAhead((ahead) => accept(lagosDay(ahead)));
    await accept(today);
    const wallet = await wallets().findOne({ _id: tenantId });
    expect(wallet?.limit_day).toBe(lagosDay(new Date()));
    expect(wallet?.limit_used_minor).toBe(750_000n);
  });

  test('keeps an idempotency key for a day after its commit', async () => {
    const tenantId = newId('tenant');
    const now = new Date();
    const claim = {
      id: `${tenantId}/secret/key`,
      fingerprint: 'a request',
      createdAt: new Date(now.getTime() - DAY_MS),
      expiresAt: now,
    };
    const send = () =>
      commit().commit(saveRefusal, { tenantId, claim, answer: { status: 422, body: '{}' } });
    expect(await send()).toMatchObject({ replayed: false });
    expect(await send()).toMatchObject({ replayed: true });
    const keys = database.db.collection<{ _id: string; expires_at: Date }>('idempotency_keys');
    const expiresAt = (await keys.findOne({ _id: claim.id }))?.expires_at.getTime();
    expect(expiresAt).toBeGreaterThan(now.getTime() + DAY_MS / 2);
  });

  test('leaves no transfer that is checked only when its clock would be right', async () => {
    const tenantId = await tenantWith(10_000_000n);
    let id = '';
    await aMonthAhead((ahead) => {
      const times = { created_at: ahead, next_check_at: new Date(ahead.getTime() + 2_000) };
      const transfer = pendingTransfer({ tenant_id: tenantId, ...times });
      id = transfer._id;
      return commitNamed(commit(), acceptTransferMutation(transfer));
    });
    const due = (await stored().findOne({ _id: id }))?.next_check_at?.getTime();
    expect(due).toBeGreaterThan(Date.now() - DAY_MS);
    expect(due).toBeLessThan(Date.now() + DAY_MS);
  });

  test('does not move the day of a card’s limit either: what it approves counts today', async () => {
    const security = { ...OPEN_SECURITY, daily_limit_minor: 100_000n };
    const card = openCard({ available_minor: 1_000_000n, security });
    await database.db.collection<Card>('cards').insertOne(card);
    const answerBy = new Date(Date.now() + DAY_MS);
    const ask = (token: string, amountMinor: bigint) =>
      commitNamed(
        commit(),
        decideAuthorizationMutation({ token, messageId: token, amountMinor }, { answerBy }),
      );
    await ask('first', 60_000n);
    await aMonthAhead(() => ask('ahead', 30_000n));
    await ask('third', 20_000n);
    const decided = await database.db
      .collection<CardAuthorization>('card_authorizations')
      .find({ card_id: card._id })
      .sort({ created_at: 1 })
      .toArray();
    expect(Object.fromEntries(decided.map(({ token, code }) => [token, code]))).toEqual({
      first: 'approved',
      ahead: 'approved',
      third: 'daily_limit_exceeded',
    });
    const stored = await database.db.collection<Card>('cards').findOne({ _id: card._id });
    expect(stored?.daily_spend).toEqual({ day: lagosDay(new Date()), minor: 90_000n });
  });
});
