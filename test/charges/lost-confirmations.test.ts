import type { ChargeFact } from '../../src/capabilities/charges/facts.js';
import { factIn } from '../../src/capabilities/charges/provider-answers.js';
import { createChargeCalls } from '../../src/capabilities/charges/provider-calls.js';
import { charges as collection, type Charge } from '../../src/capabilities/charges/record.js';
import { createCharges } from '../../src/capabilities/charges/store.js';
import type { GroupCommit } from '../../src/core/commit/group-commit.js';
import type { PaymentProvider } from '../../src/core/providers/payment-provider.js';
import { days, merchantCharge, refused, sent, transition } from '../support/charge-facts.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { withEmptyParts } from '../support/parts.js';
import { byProvider, NOW } from '../support/transfers.js';

const never = new AbortController().signal;
const ONGOING = {
  kind: 'pending',
  awaits: 'customer',
  redirect: null,
  lastDecline: null,
  providerRequestId: null,
} as const;
const CANCEL = {
  ...byProvider,
  kind: 'cancel_requested',
  attempt: null,
  endsHere: true,
} as const;

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** The charge of a saved method after the provider has said twice that its customer must act, and the last outcome. */
async function ongoing() {
  const records = database.db.collection<Charge>(collection.name);
  const charge = sent(merchantCharge());
  await records.insertOne(charge);
  const calls = createChargeCalls({
    charges: createCharges(database, withEmptyParts<GroupCommit>({}), 2_000),
    tokens: { get: () => Promise.reject(new Error('nothing is charged')) },
    providers: {
      payment: () => withEmptyParts<PaymentProvider>({ verifyCharge: async () => ONGOING }),
      payments: [],
    },
    expiresAfterMs: days(1).getTime() - NOW.getTime(),
    clock: () => NOW,
  });
  const read = async () => (await records.findOne({ _id: charge._id })) as Charge;
  await calls.verify(charge, never);
  const outcome = await calls.verify(await read(), never);
  return { before: charge, after: await read(), outcome };
}

describe('a saved method that the customer has to confirm on a page whose address was lost', () => {
  test('waits for the customer’s time, which is noted once, and is not submitted again', async () => {
    const { before, after, outcome } = await ongoing();
    expect(after).toMatchObject({ status: 'processing', attempt: 1, expires_at: days(1) });
    expect(after.timeline).toHaveLength(before.timeline.length + 1);
    expect(outcome).toMatchObject({ kind: 'pending', result: { kind: 'pending', idle: true } });
  });

  test('fails after that time, or when its tenant cancels it, and is then watched', async () => {
    const { before, after } = await ongoing();
    expect(factIn(after, ONGOING, 'poll', NOW)).toBeNull();
    const expired = factIn(after, ONGOING, 'poll', days(1));
    expect(expired).toMatchObject({ kind: 'expired' });
    expect(transition(after, expired as ChargeFact, days(1)).next).toMatchObject({
      status: 'failed',
      monitor_until: expect.any(Date) as Date,
    });
    expect(transition(before, CANCEL).next.status).toBe('processing');
    expect(transition(after, CANCEL).next).toMatchObject({
      status: 'failed',
      failure: { code: 'cancelled' },
      monitor_until: expect.any(Date) as Date,
    });
  });

  test('is tried again on its day if the provider declines it after all', async () => {
    const { after } = await ongoing();
    const { next } = transition(after, refused());
    expect(next).toMatchObject({ attempt: 2, expires_at: null, next_attempt_at: days(1) });
  });
});
