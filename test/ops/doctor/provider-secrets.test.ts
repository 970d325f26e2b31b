import { examineProviderSecrets } from '../../../src/ops/doctor/mongodb.js';
import { createSecretUses } from '../../../src/core/providers/secret-uses.js';
import { createSealing } from '../../../src/platform/sealing/sealing.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { settingsFor } from '../../paystack/support.js';

const DAY_MS = 24 * 3_600_000;
const [LATER, EARLIER, OLDEST] = [
  'sk_test_laterkey0000',
  'sk_test_earlierkey00',
  'sk_test_oldestkey000',
];
const sealing = createSealing([{ id: 'k1', secret: 'a'.repeat(64) }] as never);

let database: TestDatabase;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

/** Each secret verifies a message, in this order. */
async function verify(...secrets: string[]) {
  for (const secret of secrets) {
    const uses = createSecretUses({ db: database.db, sealing, log: undefined as never });
    uses.touch(secret);
    await uses.idle();
    // The times of MongoDB's clock have milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const examineIn = (days: number, keys = [LATER, EARLIER]) =>
  examineProviderSecrets(
    database.db,
    sealing,
    {
      sandboxBank: null,
      paystack: { ...settingsFor('http://127.0.0.1:1'), keys },
    },
    new Date(Date.now() + days * DAY_MS),
  );

test('an earlier secret that is silent for seven days, while the first one verifies, is to be removed', async () => {
  await verify(EARLIER, LATER);
  expect(await examineIn(6)).toMatchObject({ ok: true });
  expect(await examineIn(8)).toMatchObject({
    ok: false,
    detail: expect.stringContaining('PAYSTACK_SECRET_KEY number 2: 20') as unknown,
    hint: expect.stringContaining('remove') as unknown,
  });
});

test('an earlier secret that the provider still signs with is needed, and so is one before the first use of the next', async () => {
  await verify(EARLIER);
  expect(await examineIn(8)).toMatchObject({ ok: true });
  await verify(LATER, EARLIER);
  expect(await examineIn(8)).toMatchObject({ ok: true });
});

test('of two earlier secrets, only the one that is not needed is named for removal', async () => {
  await verify(EARLIER, LATER, OLDEST);
  const found = await examineIn(8, [LATER, OLDEST, EARLIER]);
  expect(found).toMatchObject({
    ok: false,
    detail: expect.stringContaining('PAYSTACK_SECRET_KEY number 3: 20') as unknown,
  });
  expect(found.detail).not.toContain('number 2');
});
