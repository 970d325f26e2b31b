import { depositAgrees, reconciledDeposits } from '../../src/capabilities/deposits/comparison.js';
import { newDeposit, type Deposit } from '../../src/capabilities/deposits/record.js';
import type { DepositFact } from '../../src/capabilities/deposits/transitions.js';
import type { VerifyReturnAnswer } from '../../src/core/providers/account-provider.js';
import { emptyReport } from '../../src/core/reconciliation/comparison.js';

const NOW = new Date('2026-11-25T09:00:00Z');
const AMOUNT = 250_000n;
const record: Deposit = {
  ...newDeposit(
    {
      id: 'dep_1',
      tenantId: 'ten_1',
      provider: 'sandbox-bank',
      reference: 'dpt_1',
      accountId: 'va_1',
      accountNumber: '9900000001',
      amountMinor: AMOUNT,
      receivedAt: NOW,
      via: 'webhook',
      detail: 'reported',
    },
    NOW,
  ),
};
const trace = { providerRequestId: null };
const received = (amountMinor: bigint) => ({
  ...trace,
  kind: 'received' as const,
  deposit: {
    id: 'dpt_1',
    accountNumber: '9900000001',
    amountMinor,
    feeMinor: null,
    currency: 'NGN',
    sessionId: null,
    sender: { name: null, account: null, bank: null },
    narration: null,
    receivedAt: NOW,
  },
});
const answers: Record<string, Parameters<typeof depositAgrees>[1]> = {
  received: received(AMOUNT),
  'received, another amount': received(AMOUNT + 1n),
  returned: { ...trace, kind: 'returned', amountMinor: AMOUNT },
  reversed: { ...trace, kind: 'reversed' },
  not_found: { ...trace, kind: 'not_found' },
};
const ours: Record<string, Partial<Deposit>> = {
  received: {},
  credited: { state: 'credited', status: 'completed' },
  suspended: { state: 'suspended', status: 'completed' },
  'being returned': { state: 'suspended', instruction: 'return', status: 'processing' },
  returned: { state: 'returned', status: 'completed' },
  reversed: { state: 'reversed', status: 'completed' },
  'failed by an operator': { state: 'reversed', status: 'failed' },
};

test.each([
  ['received', ['not_found']],
  ['credited', ['received']],
  ['suspended', ['received']],
  ['being returned', ['received', 'returned']],
  ['returned', ['returned']],
  ['reversed', ['reversed']],
  ['failed by an operator', ['not_found', 'reversed']],
])('a deposit that is %s agrees with %s, and with nothing else', (name, fits) => {
  const found = Object.entries(answers).filter(([, answer]) =>
    depositAgrees({ ...record, ...ours[name] }, answer),
  );
  expect(found.map(([answer]) => answer).toSorted()).toEqual(fits);
});

/** The report of a comparison, and the facts that it applies, of a deposit whose provider shows it as reversed and its return so. */
async function compare(changes: Partial<Deposit>, answer: VerifyReturnAnswer) {
  const deposit = { ...record, state: 'suspended', instruction: 'return', ...changes } as const;
  const applied: DepositFact[] = [];
  const reconciled = reconciledDeposits({
    deposits: {
      store: {
        get: async () => deposit,
        applyFact: async (_: Deposit, fact: DepositFact) => applied.push(fact),
      },
      starter: { notifyChangedSoon: () => undefined },
    },
    database: { db: { collection: () => ({}) } },
    providers: {
      accountProvider: () => ({
        verifyDeposit: async () => ({ ...trace, kind: 'reversed' }),
        verifyReturn: async () => answer,
      }),
      accountProviders: [],
    },
  } as unknown as Parameters<typeof reconciledDeposits>[0]);
  const report = emptyReport();
  const breaks = { note: async () => undefined };
  const run = { apply: true, takeTurn: async () => undefined, report, breaks };
  await reconciled.reconcileOne(run, deposit.tenant_id, deposit._id);
  return { report, applied };
}

test('a return that is proven late is applied with its amount, and another amount is named', async () => {
  const ended = { status: 'failed', submissions: 1, first_submitted_at: NOW } as const;
  const answer = {
    ...trace,
    kind: 'succeeded',
    amountMinor: AMOUNT - 1n,
    sessionId: null,
  } as const;
  const { report, applied } = await compare(ended, answer);
  expect(applied).toMatchObject([
    { instruction: 'return', kind: 'succeeded', amountMinor: AMOUNT - 1n },
  ]);
  expect(report.differences).toMatchObject([
    {
      breakKind: 'other_amount',
      difference: 'suspended with us, returned at the bank, of another amount',
    },
  ]);
});

test.each([
  ['pending', { ...trace, kind: 'pending', awaits: 'provider' }],
  ['not told', { ...trace, kind: 'unknown', reason: 'timeout' }],
] as const)(
  'a return that is %s, of a deposit that is shown as reversed, applies nothing',
  async (_, answer) => {
    const open = { status: 'processing', submissions: 1, first_submitted_at: NOW } as const;
    const { report, applied } = await compare(open, answer);
    expect(applied).toEqual([]);
    expect(report).toMatchObject({ asked: 1, unanswered: 1, differing: 0 });
  },
);
