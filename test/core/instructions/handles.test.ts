import { MongoNetworkError } from 'mongodb';
import {
  createBillPaymentActivities,
  type BillPaymentActivityDeps,
} from '../../../activities/bill-payments.js';
import {
  createTransferActivities,
  type TransferActivityDeps,
} from '../../../activities/transfers.js';
import { newBillPayment } from '../../../src/capabilities/bill-payments/create.js';
import {
  createBillPaymentCalls,
  type Receipts,
} from '../../../src/capabilities/bill-payments/provider-calls.js';
import type { BillPayment } from '../../../src/capabilities/bill-payments/record.js';
import { createBillPayments } from '../../../src/capabilities/bill-payments/store.js';
import { comparedTransfers } from '../../../src/capabilities/transfers/comparison.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { createTransfers, type Transfers } from '../../../src/capabilities/transfers/store.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import type { BillProvider } from '../../../src/core/providers/bill-provider.js';
import { createCallRates } from '../../../src/core/providers/call-rates.js';
import { NO_TURN, type About } from '../../../src/core/providers/port.js';
import type {
  SubmitAnswer,
  TransferProvider,
  VerifyAnswer,
} from '../../../src/core/providers/transfer-provider.js';
import { transferRateLimitKey } from '../../../src/platform/temporal/queues.js';
import { newId } from '../../../src/shared/ids.js';
import { createLog } from '../../../src/shared/log.js';
import { asActivity } from '../../support/activity-context.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { withEmptyParts } from '../../support/parts.js';
import { NOW, pendingTransfer } from '../../support/transfers.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const log = createLog({ level: 'silent', name: 'test' });
const providerFaults = withEmptyParts<TransferActivityDeps['providerFaults']>({
  mayStop: () => false,
  stopping: () => Promise.resolve(null),
});
const traced = <Answer extends object>(answer: Answer) =>
  Promise.resolve({ ...answer, providerRequestId: null });

const trace = { providerRequestId: null };
const SILENCE: SubmitAnswer = { kind: 'unknown', reason: 'timeout', ...trace };
const STALE: SubmitAnswer = {
  kind: 'rejected_temporarily',
  reason: 'stale_handle',
  afterMs: 0,
  ...trace,
};
/** Time of an activity. */
const LIMIT_MS = 5_000;
const PENDING = { kind: 'pending', handle: 'payment_1', ...trace } as const;

/**
 * A stored transfer of a provider with a fence that knows no transfer, and the questions about it. `prepared`: the handles of its
 * preparations; none if it prepares nothing. `verified`: the provider's answers to verifications before "not found". `writes`: those
 * about answers, if they fail.
 */
async function transferOf({
  prepared,
  answers,
  questionsPerSecond,
  verified = [],
  writes = {},
  failures = 0,
}: {
  prepared: string[];
  answers: SubmitAnswer[];
  /** Left out if all calls have one rate. */
  questionsPerSecond?: number;
  verified?: VerifyAnswer[];
  writes?: Partial<Pick<Transfers, 'recordAnswer' | 'countPoll'>>;
  /** Times that our own database is away when an answer is written. */
  failures?: number;
}) {
  const transfer = pendingTransfer({ tenant_id: newId('tenant'), polls: 3 });
  await database.db.collection<Transfer>('transfers').insertOne(transfer);
  const asked: [call: string, about: About][] = [];
  const provider = withEmptyParts<TransferProvider>({
    name: 'bank',
    traits: {
      resendSafety: { kind: 'fence' },
      callsPerSecond: questionsPerSecond ?? 1,
      ...(questionsPerSecond && { submissions: { callsPerSecond: 1, bucket: 'submissions' } }),
    },
    prepare: async ({ takeTurn }) =>
      (await takeTurn?.()) === false
        ? NO_TURN
        : traced({ kind: 'ready', handle: prepared.shift() ?? null } as const),
    submit: () => Promise.resolve(answers.shift() ?? SILENCE),
    verify(about) {
      asked.push(['verify', about]);
      return Promise.resolve(verified.shift() ?? { kind: 'not_found', ...trace });
    },
    cancel(about) {
      asked.push(['cancel', about]);
      return traced({ kind: 'cancelled' } as const);
    },
  });
  const served = createTransfers(database, createGroupCommit(database), 1_000);
  const store: Transfers = {
    ...served,
    async recordAnswer(...written) {
      if (failures-- > 0) throw new MongoNetworkError('the connection is closed');
      await served.recordAnswer(...written);
    },
    ...writes,
  };
  const { submissions, callsPerSecond } = provider.traits;
  const limit = { name: transferRateLimitKey('bank'), callsPerSecond, submissions };
  const callRates = createCallRates({
    limits: [{ ...limit, bulkTransfersOf: 'bank' }],
    workers: () => 1,
  });
  const transfers = { store, starter: { notifyChangedSoon: () => undefined } };
  const providers = { all: [provider], transfer: () => provider, find: () => provider };
  const { submitTransfer, verifyTransfer } = createTransferActivities(
    withEmptyParts<TransferActivityDeps>({ transfers, providers, providerFaults, callRates, log }),
  );
  const { tenant_id: tenantId, _id: id } = transfer;
  return {
    id,
    asked,
    submit: (submissions: number) =>
      asActivity(() => submitTransfer({ tenantId, id, submissions }), LIMIT_MS),
    verify: () => asActivity(() => verifyTransfer({ tenantId, id, nextPollMs: 1_000 }), LIMIT_MS),
    compare: async () => {
      const [compared] = await store.openBefore(
        { tenantId, status: 'processing', before: `${id}~`, after: undefined },
        1,
      );
      if (!compared) throw new Error('the transfer is not processing');
      const { signal } = new AbortController();
      await comparedTransfers({ transfers, providers }).ask(compared, signal);
    },
  };
}

test('the verification, the cancellation and the comparison of a transfer name the handle of its preparation', async () => {
  const { id, asked, submit, verify, compare } = await transferOf({
    prepared: ['prepared_1'],
    answers: [SILENCE],
  });
  await submit(0);
  expect(await verify()).toMatchObject({ kind: 'rejected', code: 'not_executed' });
  await compare();
  const about = { reference: id, handle: 'prepared_1' };
  expect(asked).toEqual([
    ['verify', about],
    ['cancel', about],
    ['verify', about],
  ]);
});

test('a transfer that was prepared again is looked up by its reference alone: an earlier submission may have named the first handle', async () => {
  const { id, asked, submit, verify, compare } = await transferOf({
    prepared: ['prepared_1', 'prepared_2'],
    answers: [STALE, SILENCE],
  });
  await submit(0);
  await submit(1);
  await verify();
  await compare();
  expect(asked.map(([, about]) => about)).toEqual(
    asked.map(() => ({ reference: id, handle: null })),
  );
  expect(asked).toHaveLength(3);
});

test.each([
  ['that was not prepared is looked up by the id', [], 'payment_1'],
  ['that was prepared keeps its handle beside the id', ['prepared_1'], 'prepared_1'],
])(
  'a transfer %s of its acknowledgement, and "not found" neither cancels it nor permits a repeat',
  async (_what, prepared, handle) => {
    const { id, asked, submit, verify } = await transferOf({ prepared, answers: [PENDING] });
    expect(await submit(0)).toEqual({ kind: 'pending' });
    expect(await verify()).toMatchObject({ kind: 'not_found', acknowledged: true });
    expect(await submit(1)).toMatchObject({ kind: 'permit_denied' });
    expect(asked).toEqual([['verify', { reference: id, handle }]]);
  },
);

test('a submission whose preparation has no turn uses no permit, and is made once it has one', async () => {
  const answers = [SILENCE];
  const starved = { prepared: ['prepared_1'], answers, questionsPerSecond: 0.001 };
  const without = await transferOf(starved);
  const unsent = { kind: 'unsent', resendSafety: { kind: 'fence' }, submissions: 0 };
  expect(await without.submit(0)).toMatchObject({ ...unsent, possibleSubmissions: 0 });
  expect(answers).toEqual([SILENCE]);
  const having = await transferOf({ ...starved, questionsPerSecond: 1_000 });
  expect(await having.submit(0)).toMatchObject({ kind: 'unknown', submissions: 1 });
});

test.each([
  ['is away', new MongoNetworkError('the connection is closed')],
  ['refuses it', new Error('the document is not valid')],
])('an acknowledgement reaches the run in time while our own database %s', async (_why, error) => {
  const fails = () => Promise.reject(error);
  const writes = { recordAnswer: fails, countPoll: fails };
  const lost = await transferOf({ prepared: [], answers: [PENDING], writes });
  expect(await lost.submit(0)).toEqual({ kind: 'pending' });

  const { submit, verify } = await transferOf({
    prepared: [],
    answers: [SILENCE],
    verified: [PENDING],
    writes,
  });
  await submit(0);
  expect(await verify()).toEqual({ kind: 'pending' });
});

test('an acknowledgement is written until our own database serves it', async () => {
  const served = await transferOf({ prepared: [], answers: [PENDING], failures: 2 });
  await served.submit(0);
  expect(await served.verify()).toMatchObject({ kind: 'not_found', acknowledged: true });
});

test('a bill payment is looked up by the id of its acknowledgement', async () => {
  const payment: BillPayment = {
    ...newBillPayment({
      tenant: { id: 'ten_bills', billFeeMinor: 0n },
      body: {
        biller_id: 'harbour-electric',
        item_id: 'harbour-prepaid',
        customer_reference: '4503061789',
        amount_minor: 500_000,
        currency: 'NGN',
      },
      customerName: null,
      givesToken: true,
      provider: 'biller',
      now: NOW,
    }),
  };
  await database.db.collection<BillPayment>('bill_payments').insertOne(payment);
  const asked: About[] = [];
  const provider = withEmptyParts<BillProvider>({
    bills: { resendSafety: { kind: 'never' }, callsPerSecond: 1 },
    submit: () => traced({ kind: 'pending', handle: 'bill_1' } as const),
    verify(about) {
      asked.push(about);
      return traced({ kind: 'pending' } as const);
    },
  });
  const store = createBillPayments(database, createGroupCommit(database), 1_000);
  const providerCalls = createBillPaymentCalls({
    payments: store,
    providers: { bill: () => provider },
    receipts: withEmptyParts<Receipts>({}),
  });
  const { submitBillPayment, verifyBillPayment } = createBillPaymentActivities(
    withEmptyParts<BillPaymentActivityDeps>({
      billPayments: { store, providerCalls },
      providerFaults,
      log,
    }),
  );
  const { tenant_id: tenantId, _id: id } = payment;
  await asActivity(() => submitBillPayment({ tenantId, id, submissions: 0 }));
  await asActivity(() => verifyBillPayment({ tenantId, id, nextPollMs: 1_000 }));
  expect(asked).toEqual([{ reference: id, handle: 'bill_1' }]);
});
