import { createIntakeLimit } from '../../src/capabilities/transfers/create.js';
import type { Transfer } from '../../src/capabilities/transfers/record.js';
import { createLog } from '../../src/shared/log.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { pendingTransfer } from '../support/transfers.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('too many open transfers of one provider close the intake of that provider alone', async () => {
  const collection = database.db.collection<Transfer>('transfers');
  const open = (provider: string) => pendingTransfer({ provider, next_check_at: new Date() });
  await collection.insertMany([open('silent'), open('silent'), open('silent'), open('other')]);
  const intake = createIntakeLimit(collection, {
    maxOpen: 3,
    log: createLog({ level: 'silent', name: 'test' }),
  });
  /** A request counts in the background, and the next one is decided by the count. */
  const isClosed = async (provider: string) => {
    try {
      intake.check(provider);
      await intake.idle();
      intake.check(provider);
      return false;
    } catch (error) {
      return (error as { code?: unknown }).code === 'service_unavailable';
    }
  };
  expect(await isClosed('silent')).toBe(true);
  expect(await isClosed('other')).toBe(false);
});
