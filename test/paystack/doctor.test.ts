import { examineKey } from '../../src/ops/doctor/paystack.js';
import { settingsFor, startFake } from './support.js';

let fake: Awaited<ReturnType<typeof startFake>>;
beforeAll(async () => {
  fake = await startFake();
});
afterAll(() => fake.close());

// No call here waits for its end: the doctor's own limit is enough.
const examine = () => examineKey(settingsFor(fake.url, 10_000));

test('a key that reads everything is accepted', async () => {
  expect(await examine()).toMatchObject({
    check: 'paystack: key',
    ok: true,
    detail: 'a test key, accepted; only a payment shows whether it may pay',
  });
});

test.each([
  ['list', 'no_privilege', 'GET /transfer: refused, so the key may lack the privilege (HTTP 400)'],
  ['refunds', 'no_privilege', 'GET /refund: refused, so the key may lack the privilege (HTTP 400)'],
  ['transactions', 'wrong_address', 'GET /transaction: the key is refused (HTTP 400)'],
  ['list', 'throttle_seconds', 'GET /transfer: too many calls (HTTP 429)'],
  ['refunds', 'html', 'GET /refund: no usable answer (unreadable)'],
  ['refunds', 'drop_before', 'GET /refund: no usable answer (connection)'],
] as const)(
  'a list that is not read fails by its name: %s with %s',
  async (call, fault, detail) => {
    fake.plan(call, fault);
    expect(await examine()).toMatchObject({
      ok: false,
      detail: `the key cannot read all: ${detail}`,
    });
  },
);
