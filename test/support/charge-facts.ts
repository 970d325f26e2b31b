import { newCharge, type Charge, type NewCharge } from '../../src/capabilities/charges/record.js';
import type { ChargeFact } from '../../src/capabilities/charges/facts.js';
import { transitionCharge } from '../../src/capabilities/charges/transitions.js';
import type { Posting } from '../../src/core/ledger/posting.js';
import { grantPermit } from '../../src/core/instructions/submit-permit.js';
import { byProvider, NOW } from './transfers.js';

export const DAY_MS = 24 * 60 * 60 * 1000;
export const days = (n: number) => new Date(NOW.getTime() + n * DAY_MS);
export const noDebt = { availableMinor: 0n, receivableMinor: 0n };
export const customer = { id: 'customer-1', email: 'ada@example.com', name: null };

export const chargeFields: NewCharge = {
  tenant_id: 'ten_a',
  amount_minor: 300_000n,
  capture_mode: 'merchant_initiated',
  customer,
  payment_token_id: null,
  description: null,
  metadata: null,
  provider: 'sandbox-bank',
  dunning_days: [1, 3, 5, 7],
};
export const merchantCharge = (changes: Partial<NewCharge> = {}) =>
  newCharge({ ...chargeFields, ...changes }, NOW);
export const pageCharge = (changes: Partial<NewCharge> = {}) =>
  merchantCharge({ capture_mode: 'customer_action_required', expiresAfterMs: DAY_MS, ...changes });

export const sent = (charge: Charge, now = NOW): Charge => {
  const permitted = grantPermit(
    charge,
    { submissions: charge.submissions, actor: 'test', dueAt: now },
    now,
  );
  if (!permitted) throw new Error('it may not leave');
  return permitted;
};

export const method = {
  code: 'authz_1',
  type: 'card' as const,
  brand: 'visa',
  last4: '4081',
  expiryMonth: 1,
  expiryYear: 2030,
  bankCode: null,
  bankName: null,
  reusable: true,
  email: 'ada@example.com',
};
export const paid = (changes: object = {}): ChargeFact => ({
  ...byProvider,
  attempt: 1,
  kind: 'succeeded',
  amountMinor: 300_000n,
  currency: 'NGN',
  surchargeMinor: 0n,
  feeMinor: 14_500n,
  method,
  ...changes,
});
export const refused = (changes: object = {}): ChargeFact => ({
  ...byProvider,
  attempt: 1,
  kind: 'rejected',
  code: 'insufficient_funds',
  decline: 'soft',
  ...changes,
});
export const of = (
  kind: 'cancelled' | 'page_lost' | 'expired' | 'operator_confirmed',
): ChargeFact => ({
  ...byProvider,
  attempt: 1,
  kind,
});
export const transition = (charge: Charge, fact: ChargeFact, now = NOW, wallet = noDebt) =>
  transitionCharge(charge, fact, now, wallet);

/** An operator accepts a payment in suspense. */
export const accepts = (amountMinor: bigint, attempt: number | null = null): ChargeFact => ({
  ...of('operator_confirmed'),
  kind: 'operator_confirmed',
  via: 'operator',
  attempt,
  amountMinor,
});

/** The balances after these postings. */
export function sumsOf(...postings: Posting[]) {
  const sums = new Map<string, bigint>();
  for (const { account, amountMinor } of postings.flatMap(({ legs }) => legs)) {
    sums.set(account, (sums.get(account) ?? 0n) + amountMinor);
  }
  return Object.fromEntries([...sums].filter(([, minor]) => minor !== 0n));
}
