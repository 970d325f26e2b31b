import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { moneyIn } from '../../support/moving-money.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('no audit reports a problem while money moves', async () => {
  expect(await moneyIn(database).problemsWhileMoving(40)).toEqual([]);
});
