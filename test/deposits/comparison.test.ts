import { depositAgrees } from '../../src/capabilities/deposits/comparison.js';
import { newDeposit, type Deposit } from '../../src/capabilities/deposits/record.js';

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
  returned: { ...trace, kind: 'returned' },
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
