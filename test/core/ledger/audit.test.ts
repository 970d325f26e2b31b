import { ApiError } from '../../../src/shared/errors.js';
import { MongoServerError } from 'mongodb';
import {
  applyCardAuthorizationFact,
  decideCardAuthorization,
} from '../../../src/capabilities/card-authorizations/mutations.js';
import type { CardAuthorization } from '../../../src/capabilities/card-authorizations/record.js';
import type { Card } from '../../../src/capabilities/cards/record.js';
import { acceptTransfer } from '../../../src/capabilities/transfers/mutations.js';
import { audits } from '../../../src/composition/capabilities.js';
import { withSnapshot } from '../../../src/platform/database/client.js';
import { auditLedger } from '../../../src/core/ledger/audit.js';
import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import { createTransfers, type Transfers } from '../../../src/capabilities/transfers/store.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import {
  authorizationFactMutation,
  decideAuthorizationMutation,
  keyOf,
} from '../../support/authorizations.js';
import { openCard } from '../../support/card-record.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../../support/transfers.js';

let database: TestDatabase;
let transfers: Transfers;

beforeAll(async () => {
  database = await openTestDatabase();
  transfers = createTransfers(database, createGroupCommit(database), 1_000);
});
afterAll(async () => {
  await database.close();
});

type Kind = 'succeeded' | 'rejected' | 'reversed' | 'operator_confirmed';

/** Creates a transfer, of a separate tenant or of this one, that has gone through these facts. */
const after = (...kinds: Kind[]) => afterOf(null, ...kinds);
async function afterOf(tenant: string | null, ...kinds: Kind[]): Promise<Transfer> {
  const id = `${kinds.join('-')}-${Math.random()}`;
  const transfer = pendingTransfer({ _id: id, tenant_id: tenant ?? id, created_at: new Date() });
  const { tenant_id: tenantId, total_minor: amountMinor } = transfer;
  await creditWallet(createGroupCommit(database), { tenantId, amountMinor, reference: id });
  await createGroupCommit(database).commit(acceptTransfer, acceptTransferMutation(transfer));
  for (const kind of kinds) {
    const about = { amountMinor: null, sessionId: 's', code: 'account_closed' };
    await transfers.applyFact(tenantId, id, { ...byProvider, ...about, kind });
  }
  return transfer;
}

const problems = async () => (await auditLedger(database, audits)).problems;

test('the audit accepts the postings of transfers in every state', async () => {
  await after();
  await after('succeeded');
  await after('rejected');
  await after('reversed');
  await after('succeeded', 'reversed');
  await after('rejected', 'succeeded');
  await after('rejected', 'succeeded', 'reversed');
  await after('rejected', 'succeeded', 'operator_confirmed');
  await after('rejected', 'succeeded', 'operator_confirmed', 'reversed');
  expect(await problems()).toEqual([]);
});

test('reads of one snapshot see nothing that was written after the first of them', async () => {
  await after('succeeded');
  await withSnapshot(database, async (db, session) => {
    const postings = () => db.collection('postings').countDocuments({}, { session });
    const first = await postings();
    await after('succeeded');
    expect(await postings()).toBe(first);
  });
});

test('reads of a snapshot that MongoDB has given up are repeated at a later moment', async () => {
  let attempts = 0;
  const read = () =>
    withSnapshot(database, async (db, session) => {
      attempts += 1;
      const count = await db.collection('postings').countDocuments({}, { session });
      if (attempts === 1) {
        await after('succeeded');
        throw new MongoServerError({ message: 'snapshot too old', code: 239 });
      }
      return count;
    });
  const before = await database.db.collection('postings').countDocuments();
  expect(await read()).toBe(before + 3);
});

test('the audit reports no problem while money moves', async () => {
  const going = { on: true };
  const moving = (async () => {
    while (going.on) {
      await Promise.all([
        afterOf('moving-1', 'succeeded'),
        afterOf('moving-1', 'rejected'),
        afterOf('moving-2', 'reversed'),
      ]).catch((error: unknown) => {
        // A commit may be refused while the machine is busy. A movement that ended in between must be right too.
        if (!(error instanceof ApiError && error.status === 503)) throw error;
      });
    }
  })();
  for (let i = 0; i < 20; i += 1) expect(await problems()).toEqual([]);
  going.on = false;
  await moving;
});

test('the audit reports a balanced posting that differs from its transfer', async () => {
  const { _id: id } = await after('succeeded');
  const { _id: other } = await after('rejected');
  const postings = database.db.collection<{ _id: string; legs: object[] }>('postings');
  const legsOf = async (of: string) =>
    (await postings.findOne({ _id: `${of}/resolve` }))?.legs ?? [];
  const [captured, released] = [await legsOf(id), await legsOf(other)];
  await postings.updateOne({ _id: `${id}/resolve` }, { $set: { legs: released } });
  await postings.updateOne({ _id: `${other}/resolve` }, { $set: { legs: captured } });
  const found = await problems();
  expect(found).toContain(`${id}/resolve is not the posting of a completed transfer`);
  expect(found).toContain(`${other}/resolve is not the posting of a failed transfer`);
});

test('the audit reports a card payment that others have paid than its postings say', async () => {
  const commit = createGroupCommit(database);
  const card = openCard({ available_minor: 10_000n });
  await database.db.collection<Card>('cards').insertOne(card);
  const answerBy = new Date(Date.now() + 60_000);
  const asked = decideAuthorizationMutation({ amountMinor: 4_000n }, { answerBy });
  await commit.commit(decideCardAuthorization, asked);
  const cleared = authorizationFactMutation('cleared', { at: 1, minor: 4_000n });
  await commit.commit(applyCardAuthorizationFact, cleared);
  const { id } = keyOf('auth_1');
  const wrong = `${id} was paid by wallet 4000, by its postings by card 4000`;
  expect((await problems()).filter((each) => each.startsWith(id))).toEqual([]);
  const payments = database.db.collection<CardAuthorization>('card_authorizations');
  const byWallet: CardAuthorization['payments'] = [{ from: 'wallet', minor: 4_000n }];
  await payments.updateOne({ _id: id }, { $set: { payments: byWallet } });
  expect(await problems()).toContain(wrong);
});
