import type { VerifyAnswer } from '../../../src/core/providers/transfer-provider.js';
import { paymentAgrees } from '../../../src/core/reconciliation/payment-answers.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { NOW, pendingTransfer } from '../../support/transfers.js';

const AMOUNT = 250_000n;
const trace = { providerRequestId: null };
const bank: Record<string, VerifyAnswer> = {
  paid: { ...trace, kind: 'succeeded', amountMinor: AMOUNT, sessionId: 's' },
  'paid, without an amount': { ...trace, kind: 'succeeded', amountMinor: null, sessionId: 's' },
  'paid another amount': { ...trace, kind: 'succeeded', amountMinor: AMOUNT - 1n, sessionId: 's' },
  rejected: { ...trace, kind: 'rejected', code: 'account_closed' },
  reversed: { ...trace, kind: 'reversed', amountMinor: AMOUNT, sessionId: 's' },
  pending: { ...trace, kind: 'pending' },
  not_found: { ...trace, kind: 'not_found' },
};
const ours: Record<string, Partial<Transfer>> = {
  pending: { status: 'pending' },
  processing: { status: 'processing', submissions: 1 },
  completed: { status: 'completed', completed_at: NOW },
  failed: { status: 'failed' },
  'failed and reversed': { status: 'failed', reversed_at: NOW },
  'failed by force, monitored': { status: 'failed', monitor_until: NOW },
  'failed, in suspense': { status: 'failed', in_suspense: true },
};

describe('the answers of the bank that agree with a record; every other answer is a difference', () => {
  test.each([
    ['pending', ['not_found', 'pending']],
    ['processing', ['not_found', 'pending']],
    ['completed', ['paid', 'paid, without an amount']],
    ['failed', ['not_found', 'rejected']],
    ['failed and reversed', ['reversed']],
    ['failed by force, monitored', ['not_found', 'pending', 'rejected']],
    ['failed, in suspense', ['paid', 'paid, without an amount']],
  ])('%s: %s', (name, fits) => {
    const record = pendingTransfer({ amount_minor: AMOUNT, ...ours[name] });
    const found = Object.keys(bank).filter((answer) =>
      paymentAgrees(record, bank[answer] as VerifyAnswer),
    );
    expect(found.toSorted()).toEqual(fits);
  });
});
