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

/**
 * Verifications of two processes at a provider that takes five questions a second and two calls for refunds and disputes, with the
 * numbers of calls. Each verification makes one question and as many other calls as it may, but no more than three.
 */
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
  const { payments: traits } = payments;
  const rates = { ...traits.rates, find: { bucket: 'shared', perSecond: 2 } };
  const providers = { payment: () => ({ ...payments, payments: { ...traits, rates } }) };
  const calls = { verify: 0, find: 0 };
  const create = () => {
    const rateLimits = createRateLimits({ db: database.db, log, answerWithinMs: 5_000 });
    return createVerification({ rateLimits, providers });
  };
  const ask = async (_signal: AbortSignal, mayFind: () => Promise<boolean>) => {
    calls.verify += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (let found = 0; found < 3 && (await mayFind()); found += 1) calls.find += 1;
    return true;
  };
  return { one: create(), two: create(), ask, calls };
}

test('the calls of verifications on request stay within their share of each of the provider’s rates, over all processes, and none hangs', async () => {
  const { one, two, ask, calls } = verifications();
  const provider = newId('tenant');
  await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      (n % 2 ? one : two)({ ...pageCharge(), provider }, ask, never),
    ),
  );
  // A quarter of five and of two calls a second; the test may run across the end of a window.
  expect(calls.verify).toBeGreaterThan(0);
  expect(calls.verify).toBeLessThanOrEqual(150);
  expect(calls.find).toBeGreaterThan(0);
  expect(calls.find).toBeLessThanOrEqual(60);
});

test('the question about a charge with earlier pages counts as one call for each page', async () => {
  const { one, two, ask, calls } = verifications();
  const charge = { ...pageCharge(), provider: newId('tenant'), attempt: 160 };
  await one(charge, ask, never);
  await two({ ...charge, attempt: 1 }, ask, never);
  expect(calls.verify).toBeLessThanOrEqual(1);
});

test('one charge has one question at a time, whose answer serves every request', async () => {
  const { one, ask, calls } = verifications();
  const charge = { ...pageCharge(), provider: newId('tenant') };
  await Promise.all(Array.from({ length: 50 }, () => one(charge, ask, never)));
  expect(calls.verify).toBe(1);
});
