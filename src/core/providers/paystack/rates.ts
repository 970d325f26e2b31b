import type { PaystackSettings } from '../../../shared/paystack-settings.js';

/**
 * The rates of Paystack's calls. Live keys have a limit a minute for some calls and share one for all others; test keys
 * have 100 calls a minute in all. 80 % are used.
 */

const SHARE = 0.8;
const perSecond = (perMinute: number): number => (perMinute * SHARE) / 60;

/** Calls with a limit of their own, per minute, under a live key. */
const OWN_LIMITS = {
  verify_transaction: 3_000,
  resolve: 1_500,
  initialize: 1_200,
  charge_authorization: 1_200,
  transfer: 900,
} as const;
const SHARED_PER_MINUTE = 600;
const TEST_PER_MINUTE = 100;

/** A bucket of calls that have one limit. */
type Bucket = keyof typeof OWN_LIMITS | 'shared';

/**
 * The rate of a bucket under these settings. `callsPerSecond` replaces the shared one, for a business that has agreed on
 * another.
 */
export function rateOf(
  bucket: Bucket,
  { domain, callsPerSecond }: Pick<PaystackSettings, 'domain' | 'callsPerSecond'>,
) {
  if (domain === 'test') {
    return { bucket: 'test', perSecond: callsPerSecond ?? perSecond(TEST_PER_MINUTE) };
  }
  if (bucket !== 'shared') return { bucket, perSecond: perSecond(OWN_LIMITS[bucket]) };
  return { bucket, perSecond: callsPerSecond ?? perSecond(SHARED_PER_MINUTE) };
}

/** The rate of transfers themselves. Under a test key they have that of all calls. */
export function transferRate(settings: Parameters<typeof rateOf>[1]) {
  const { bucket, perSecond: callsPerSecond } = rateOf('transfer', settings);
  return settings.domain === 'test' ? {} : { submissions: { bucket, callsPerSecond } };
}

/** The rate that all ports share. Those of charges bound it: their slowest call has a limit of its own. */
export function sharedRate(settings: Parameters<typeof rateOf>[1]) {
  const { bucket, perSecond: callsPerSecond } = rateOf('shared', settings);
  return { bucket, callsPerSecond };
}
