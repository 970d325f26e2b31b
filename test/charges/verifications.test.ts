import { newId } from '../../src/shared/ids.js';
import { createLog } from '../../src/shared/log.js';
import { createVerification } from '../../src/capabilities/charges/routes.js';
import { createRateLimits } from '../../src/platform/rate-limits/store.js';
import { createSandboxBankPayments } from '../../src/core/providers/sandbox-bank/payment-adapter.js';
import { pageCharge } from '../support/charge-facts.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const log = createLog({ level: 'silent', name: 'test' });
const never = new AbortController().signal;

/** Verifications of two processes at a provider of five calls a second, with the number of questions asked. */
function verifications() {
  const payments = createSandboxBankPayments({
    url: 'http://127.0.0.1:1',
    secret: 'a secret of the tests',
    deduplicates: true,
    deduplicatesForMs: null,
    conclusiveAfterMs: 1_000,
    timeoutMs: 400,
    callsPerSecond: 5,
  });
  const providers = { payment: () => payments };
  let questions = 0;
  const create = () => {
    const rateLimits = createRateLimits({ db: database.db, log, answerWithinMs: 5_000 });
    return createVerification({ rateLimits, providers });
  };
  const ask = async () => {
    questions += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { one: create(), two: create(), ask, asked: () => questions };
}

test('verifications on request stay within their share of the provider’s rate, over all processes, and none hangs', async () => {
  const { one, two, ask, asked } = verifications();
  const provider = newId('tenant');
  await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      (n % 2 ? one : two)({ ...pageCharge(), provider }, ask, never),
    ),
  );
  // A quarter of five calls a second; the test may run across the end of a window.
  expect(asked()).toBeGreaterThan(0);
  expect(asked()).toBeLessThanOrEqual(150);
});

test('one charge has one question at a time, whose answer serves every request', async () => {
  const { one, ask, asked } = verifications();
  const charge = { ...pageCharge(), provider: newId('tenant') };
  await Promise.all(Array.from({ length: 50 }, () => one(charge, ask, never)));
  expect(asked()).toBe(1);
});
