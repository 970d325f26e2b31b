import { createChargeActivities, type ChargeActivityDeps } from '../../activities/charges.js';
import { createChargeCalls } from '../../src/capabilities/charges/provider-calls.js';
import { charges as collection, type Charge } from '../../src/capabilities/charges/record.js';
import { createCharges } from '../../src/capabilities/charges/store.js';
import type { PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import type { GroupCommit } from '../../src/core/commit/group-commit.js';
import type { PaymentProvider } from '../../src/core/providers/payment-provider.js';
import { createLog } from '../../src/shared/log.js';
import { asActivity } from '../support/activity-context.js';
import {
  customer,
  days,
  merchantCharge,
  pageCharge,
  paid,
  refused,
  sent,
  transition,
} from '../support/charge-facts.js';
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

/** A stored charge, with the activity that submits it. `charged`: the references that its provider was sent. */
async function stored(charge: Charge, readToken: () => Promise<PaymentToken>) {
  const records = database.db.collection<Charge>(collection.name);
  await records.insertOne(charge);
  const charged: string[] = [];
  const charges = ({ reference }: { reference: string }) => {
    charged.push(reference);
    const answer = { kind: 'pending', awaits: 'customer', redirect: null } as const;
    return Promise.resolve({ ...answer, lastDecline: null, providerRequestId: null });
  };
  const provider = withEmptyParts<PaymentProvider>({
    name: 'sandbox-bank',
    payments: withEmptyParts<PaymentProvider['payments']>({
      charges: { kind: 'idempotent', forMs: null } as const,
    }),
    prepareCharge: () =>
      Promise.resolve({ kind: 'ready', handle: null, providerRequestId: null } as const),
    confirmCharge: charges,
    openPage: charges as never,
  });
  const store = createCharges(database, withEmptyParts<GroupCommit>({}), 2_000);
  const { submitCharge } = createChargeActivities(
    withEmptyParts<ChargeActivityDeps>({
      charges: {
        store,
        providerCalls: createChargeCalls({
          charges: store,
          tokens: { get: readToken },
          providers: { payment: () => provider, payments: [] },
          expiresAfterMs: 1_000,
        }),
      },
      providerFaults: withEmptyParts<ChargeActivityDeps['providerFaults']>({
        mayStop: () => false,
        stopping: () => Promise.resolve(null),
      }),
      log: createLog({ level: 'silent', name: 'test' }),
    }),
  );
  const { tenant_id: tenantId, _id: id } = charge;
  return {
    charged,
    record: () => records.findOne({ _id: id }),
    submit: (submissions: number) => asActivity(() => submitCharge({ tenantId, id, submissions })),
  };
}

const made = () => merchantCharge({ payment_token_id: token._id });
const half = paid({ amountMinor: 150_000n });
const usd = paid({ currency: 'USD' });
const waiting = (): Charge => ({
  ...transition(sent(made()), refused()).next,
  next_attempt_at: days(-1),
});
const out = () => sent({ ...waiting(), next_attempt_at: null });

test.each<[what: string, charge: Charge, submissions: number]>([
  [
    'whose next attempt an earlier version still plans',
    { ...waiting(), suspended: transition(sent(made()), half).next.suspended },
    0,
  ],
  ['whose present attempt is unknown to its provider', transition(out(), half).next, 1],
  ['of which a payment cannot be booked', transition(out(), usd).next, 1],
])(
  'a charge %s is not submitted while an operator decides about a payment of it: it fails',
  async (_what, charge, submissions) => {
    const { submit, charged, record } = await stored(charge, () => Promise.resolve(token));
    expect(await submit(submissions)).toEqual({
      kind: 'rejected',
      code: 'payment_mismatch',
      providerRequestId: null,
      via: 'provider_answer',
    });
    expect([charged, await record()]).toMatchObject([[], { submissions }]);
    // Another run has the present permit.
    expect(await submit(submissions + 1)).not.toMatchObject({ kind: 'rejected' });
  },
);

test.each([
  ['of a token', made()],
  ['of a page', { ...pageCharge({ payment_token_id: token._id }) }],
])(
  'a permit of a charge %s whose token our own database does not give is returned, and the next one charges once',
  async (_of, charge) => {
    let fails = true;
    const read = () => {
      const failing = fails;
      fails = false;
      return failing ? Promise.reject(new Error('the database is away')) : Promise.resolve(token);
    };
    const { submit, charged, record } = await stored(charge, read);
    expect(await submit(0)).toMatchObject({
      kind: 'unsent',
      submissions: 1,
      possibleSubmissions: 0,
    });
    expect(await record()).toMatchObject({ submissions: 1, rejected_submissions: 1 });
    expect(charged).toEqual([]);
    await submit(1);
    expect(charged).toEqual([`${charge._id}-1`]);
    expect(await record()).toMatchObject({ submissions: 2, rejected_submissions: 1 });
  },
);
