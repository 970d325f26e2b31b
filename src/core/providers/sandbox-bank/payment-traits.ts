import type { PaymentCall, PaymentTraits } from '../payment-provider.js';
import { OWN_REFERENCES } from '../port.js';
import { resendSafetyOf, withoutFence, type SandboxBankOptions } from './answers.js';

const CALLS: readonly PaymentCall[] = [
  'page',
  'prepare',
  'confirm',
  'verify',
  'cancel',
  'setup',
  'refund',
  'find',
  'revoke',
];

/** The traits of the sandbox bank's payments. All calls share one rate. */
export function paymentTraits(options: SandboxBankOptions): PaymentTraits {
  const rate = { bucket: 'payments', perSecond: options.callsPerSecond };
  return {
    currencies: ['NGN'],
    references: OWN_REFERENCES,
    rates: Object.fromEntries(CALLS.map((call) => [call, rate])) as PaymentTraits['rates'],
    charges: resendSafetyOf(options),
    refunds: resendSafetyOf(withoutFence({ ...options, deduplicates: false })),
    pages: options.pages ?? 'repeatable',
  };
}
