import { MongoServerError } from 'mongodb';
import {
  applyCardAuthorizationFact,
  decideCardAuthorization,
} from '../../../src/capabilities/card-authorizations/mutations.js';
import type { CardAuthorization } from '../../../src/capabilities/card-authorizations/record.js';
import type { Card } from '../../../src/capabilities/cards/record.js';
import { withSnapshot } from '../../../src/platform/database/client.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import {
  authorizationFactMutation,
  decideAuthorizationMutation,
  keyOf,
} from '../../support/authorizations.js';
import { openCard } from '../../support/card-record.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { moneyIn } from '../../support/moving-money.js';

let database: TestDatabase;
let money: ReturnType<typeof moneyIn>;
const after: typeof money.after = (...kinds) => money.after(...kinds);
const problems = () => money.problems();

beforeAll(async () => {
  database = await openTestDatabase();
  money = moneyIn(database);
});
afterAll(async () => {
  await database.close();
});

// First, because an audit takes longer with each tenant. audit.proof.test.ts repeats it more often.
test('the audit reports no problem while money moves', async () => {
  expect(await money.problemsWhileMoving(6)).toEqual([]);
});

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
  const wrong = `${id} was paid by wallet 4000, by its facts by card 4000`;
  expect((await problems()).filter((each) => each.startsWith(id))).toEqual([]);
  const payments = database.db.collection<CardAuthorization>('card_authorizations');
  const byWallet: CardAuthorization['payments'] = [{ from: 'wallet', minor: 4_000n }];
  await payments.updateOne({ _id: id }, { $set: { payments: byWallet } });
  expect(await problems()).toContain(wrong);
});
