import type { Charge } from '../../src/capabilities/charges/record.js';
import { chargeAgrees } from '../../src/capabilities/charges/comparison.js';
import type { VerifyChargeAnswer } from '../../src/core/providers/payment-provider.js';
import { chargeFields, pageCharge } from '../support/charge-facts.js';

const AMOUNT = chargeFields.amount_minor;
const trace = { providerRequestId: null };
const paid = (amountMinor: bigint): VerifyChargeAnswer => ({
  ...trace,
  kind: 'succeeded',
  amountMinor,
  surchargeMinor: 0n,
  currency: 'NGN',
  feeMinor: null,
  method: null,
});
const answers: Record<string, VerifyChargeAnswer> = {
  paid: paid(AMOUNT),
  'paid another amount': paid(AMOUNT - 1n),
  'paid back': { ...trace, kind: 'reversed' },
  declined: { ...trace, kind: 'declined', code: 'card_declined', decline: 'hard' },
  cancelled: { ...trace, kind: 'cancelled' },
  abandoned: { ...trace, kind: 'abandoned' },
  pending: { ...trace, kind: 'pending', awaits: 'customer', redirect: null, lastDecline: null },
  not_found: { ...trace, kind: 'not_found' },
};
const NOT_PAID = ['abandoned', 'cancelled', 'declined', 'not_found', 'pending'];
const PAID = ['paid', 'paid another amount', 'paid back'];
const ours: Record<string, Partial<Charge>> = {
  open: { status: 'processing' },
  completed: { status: 'completed' },
  'completed with another amount': { status: 'completed', settled_amount_minor: AMOUNT - 1n },
  'completed and refunded': { status: 'completed', refunded_minor: AMOUNT },
  'completed, refunded and disputed': {
    status: 'completed',
    refunded_minor: 1n,
    disputed_minor: AMOUNT - 1n,
  },
  failed: { status: 'failed' },
  'failed, with a payment in suspense': {
    status: 'failed',
    suspended: [{ attempt: 1, amount_minor: 1n, fee_minor: null }],
  },
  'failed, with a returned payment': { status: 'failed', returned_attempts: [1] },
};

test.each([
  ['open', ['abandoned', 'not_found', 'pending']],
  ['completed', ['paid']],
  ['completed with another amount', ['paid another amount']],
  ['completed and refunded', ['paid', 'paid back']],
  ['completed, refunded and disputed', ['paid', 'paid back']],
  ['failed', NOT_PAID],
  ['failed, with a payment in suspense', [...NOT_PAID, ...PAID].toSorted()],
  ['failed, with a returned payment', [...NOT_PAID, ...PAID].toSorted()],
])('a charge that is %s agrees with %s, and with nothing else', (name, fits) => {
  const charge = { ...pageCharge(), ...ours[name] };
  const found = Object.entries(answers).filter(([, answer]) => chargeAgrees(charge, answer));
  expect(found.map(([answer]) => answer).toSorted()).toEqual(fits);
});

test('a paid charge whose fee is not known here does not agree with an answer that has it', () => {
  const charge = { ...pageCharge(), status: 'completed' as const };
  const withFee = { ...paid(AMOUNT), feeMinor: 100n };
  expect(chargeAgrees({ ...charge, provider_fee_minor: null }, withFee)).toBe(false);
  expect(chargeAgrees({ ...charge, provider_fee_minor: 100n }, withFee)).toBe(true);
});
