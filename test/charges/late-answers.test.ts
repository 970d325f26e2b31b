import { createChargeActivities, type ChargeActivityDeps } from '../../activities/charges.js';
import { createChargeCalls } from '../../src/capabilities/charges/provider-calls.js';
import { charges as collection, type Charge } from '../../src/capabilities/charges/record.js';
import { createCharges } from '../../src/capabilities/charges/store.js';
import type { PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import type { GroupCommit } from '../../src/core/commit/group-commit.js';
import type {
  ChargeAnswer,
  PaymentProvider,
  VerifyChargeAnswer,
} from '../../src/core/providers/payment-provider.js';
import { createLog } from '../../src/shared/log.js';
import {
  customer,
  days,
  merchantCharge,
  refused,
  sent,
  transition,
} from '../support/charge-facts.js';
import { asActivity } from '../support/activity-context.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { withEmptyParts } from '../support/parts.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const token = withEmptyParts<PaymentToken>({
  _id: 'ptk_1',
  status: 'active',
  authorization: 'authz_1',
  method_email: null,
  customer,
});
const trace = { providerRequestId: null };
const PENDING = {
  ...trace,
  kind: 'pending',
  awaits: 'provider',
  redirect: null,
  lastDecline: null,
} as const;

/**
 * A worker that was frozen during a call of attempt 1: meanwhile a message has declined that attempt, and attempt 2 was submitted.
 * Returns attempt 2 before and after the answer is counted.
 */
async function frozenDuring(
  call: 'submitCharge' | 'verifyCharge',
  answer: ChargeAnswer | VerifyChargeAnswer,
) {
  const records = database.db.collection<Charge>(collection.name);
  const store = createCharges(database, withEmptyParts<GroupCommit>({}), 2_000);
  const charge = merchantCharge({ payment_token_id: token._id });
  const first = call === 'submitCharge' ? charge : sent(charge);
  const second = sent(transition(sent(charge), refused()).next, days(1));
  await records.insertOne(first);
  const answered = async () => {
    await records.replaceOne({ _id: first._id }, second);
    return answer as never;
  };
  const provider = withEmptyParts<PaymentProvider>({
    name: 'sandbox-bank',
    payments: withEmptyParts<PaymentProvider['payments']>({
      charges: { kind: 'idempotent', forMs: null } as const,
    }),
    confirmCharge: answered,
    verifyCharge: answered,
  });
  const activities = createChargeActivities(
    withEmptyParts<ChargeActivityDeps>({
      charges: {
        store,
        providerCalls: createChargeCalls({
          charges: store,
          tokens: { get: () => Promise.resolve(token) },
          providers: { payment: () => provider, payments: [] },
          expiresAfterMs: 1_000,
        }),
      },
      providerFaults: withEmptyParts<ChargeActivityDeps['providerFaults']>({
        mayStop: () => false,
      }),
      disputes: { readAfterVerify: () => Promise.resolve() },
      log: createLog({ level: 'silent', name: 'test' }),
    }),
  );
  const ref = { tenantId: first.tenant_id, id: first._id };
  await asActivity(async () => {
    await activities[call]({ ...ref, submissions: 0, nextPollMs: 1_000 });
  });
  return { before: second, after: await records.findOne({ _id: first._id }) };
}

test.each([
  ['submitCharge', 'a rejection of the request', { ...trace, kind: 'throttled', retryAfterMs: 1 }],
  ['submitCharge', 'an acknowledgement', PENDING],
  ['submitCharge', 'no answer', { ...trace, kind: 'unknown', reason: 'timeout' }],
  ['verifyCharge', 'an acknowledgement', PENDING],
  ['verifyCharge', 'that the provider does not know it', { ...trace, kind: 'not_found' }],
] as const)(
  '%s: %s of an earlier attempt is not counted on the present one',
  async (call, _what, answer) => {
    const { before, after } = await frozenDuring(call, answer);
    const counted = ({
      attempt,
      submissions,
      rejected_submissions,
      acknowledged_at,
      polls,
    }: Charge) => ({
      attempt,
      submissions,
      rejected_submissions,
      acknowledged_at,
      polls,
    });
    expect(counted(after as Charge)).toEqual(counted(before));
  },
);
