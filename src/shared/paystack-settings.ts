import { z } from 'zod';

/** The address of Paystack. */
const OFFICIAL_URL = 'https://api.paystack.co';

/** The variables of Paystack. */
export const paystackVariables = {
  PAYSTACK_SECRET_KEY: z
    .string()
    .transform((list) => list.split(',').map((key) => key.trim()))
    .pipe(
      z.array(
        z
          .string()
          .regex(
            /^sk_(test|live)_[0-9A-Za-z]{8,200}$/,
            'must be a list of secret keys that begin with sk_test_ or sk_live_',
          ),
      ),
    )
    .optional()
    .describe(
      'secret keys, separated by commas: the first signs requests, all of them verify messages',
    )
    .meta({ live: 'keys that begin with `sk_live_`' }),
  PAYSTACK_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .default(OFFICIAL_URL)
    .describe('address of Paystack; plain HTTP only to this machine')
    .meta({
      live: 'https; with `BURSAR_LIVE_REHEARSAL` and a key, an address of this machine alone',
    }),
  PAYSTACK_CALLS_PER_SECOND: z.coerce
    .number()
    .positive()
    .optional()
    .describe(
      'rate of the calls that share a limit, at most 16 in live with charges; without it 8 in live and 1.3 in test mode, 80 % of Paystack’s. Submissions of transfers have 12 of their own in live',
    ),
  PAYSTACK_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .positive()
    .max(60_000)
    .default(10_000)
    .describe('bound of one call, from the first byte to the last'),
  PAYSTACK_CUSTOMER_DOMAIN: z
    .string()
    .regex(
      /^(?=.{4,100}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/,
      'must be a domain in lower case, such as accounts.example.com',
    )
    .optional()
    .describe(
      'e-mail domain of the customers that Bursar makes at Paystack, to which it sends nothing; with it, Paystack serves virtual accounts and identity checks',
    ),
  PAYSTACK_PREFERRED_BANK: z
    .string()
    .regex(/^[a-z0-9-]{1,60}$/, 'must be a word of Paystack’s for a bank, such as wema-bank')
    .optional()
    .describe(
      'Paystack’s word for the bank of virtual accounts for which no bank is wished; without it Paystack chooses',
    ),
  PAYSTACK_FLOAT_ALERT_MINOR: z.coerce
    .number()
    .int()
    .min(0)
    .default(0)
    .describe(
      'while our balance at Paystack is below this amount, the row of `bursar doctor` fails and `BursarFloatLow` tells an operator; `BursarFloatShort` is for a balance that does not cover a payment',
    ),
};

/** The variables of Paystack, and those that decide which of them are allowed. */
export type PaystackVariables = z.output<z.ZodObject<typeof paystackVariables>> & {
  BURSAR_ENV: 'sandbox' | 'live';
  BURSAR_LIVE_REHEARSAL: boolean;
};

/** The settings of Paystack. */
export type PaystackSettings = NonNullable<ReturnType<typeof paystackOf>> & {
  /** Is told of the key that has verified a message. */
  onVerified?: (key: string) => void;
};

/** The settings of Paystack; null if there is no key. */
export function paystackOf(e: PaystackVariables) {
  const { PAYSTACK_SECRET_KEY: keys } = e;
  if (keys === undefined) return null;
  return {
    keys: keys as readonly string[],
    /** The environment in Paystack's word: every answer and message must name it. */
    domain: e.BURSAR_ENV === 'live' ? ('live' as const) : ('test' as const),
    url: e.PAYSTACK_BASE_URL,
    isOfficial: new URL(e.PAYSTACK_BASE_URL).origin === OFFICIAL_URL,
    timeoutMs: e.PAYSTACK_TIMEOUT_MS,
    callsPerSecond: e.PAYSTACK_CALLS_PER_SECOND ?? null,
    customerDomain: e.PAYSTACK_CUSTOMER_DOMAIN ?? null,
    preferredBank: e.PAYSTACK_PREFERRED_BANK ?? null,
    floatAlertMinor: BigInt(e.PAYSTACK_FLOAT_ALERT_MINOR),
  };
}

/** A reason why the process must not start with these settings. */
type Refusal = { path: keyof typeof paystackVariables; message: string };

/** The settings of Paystack that contradict the environment. */
export function paystackRefusals(e: PaystackVariables): Refusal[] {
  const keys = e.PAYSTACK_SECRET_KEY ?? [];
  const wanted = e.BURSAR_ENV === 'live' ? 'sk_live_' : 'sk_test_';
  const refusals: Refusal[] = [];
  if (keys.some((key) => !key.startsWith(wanted))) {
    refusals.push({
      path: 'PAYSTACK_SECRET_KEY',
      message: `must hold keys of ${e.BURSAR_ENV} only: they begin with ${wanted}`,
    });
  }
  if (!isAllowed(new URL(e.PAYSTACK_BASE_URL), e)) {
    refusals.push({
      path: 'PAYSTACK_BASE_URL',
      message:
        'must begin with https; http is for this machine only, in sandbox, or in live with BURSAR_LIVE_REHEARSAL=true',
    });
  }
  // The sandbox bank serves other capabilities then, and its invented money must never be paid out for real.
  const isRehearsed = e.BURSAR_ENV === 'live' && e.BURSAR_LIVE_REHEARSAL && keys.length > 0;
  if (isRehearsed && !LOOPBACK.has(new URL(e.PAYSTACK_BASE_URL).hostname)) {
    refusals.push({
      path: 'PAYSTACK_BASE_URL',
      message:
        'must be on this machine while BURSAR_LIVE_REHEARSAL=true: a rehearsal moves no money',
    });
  }
  return refusals;
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

function isAllowed(url: URL, e: PaystackVariables): boolean {
  if (url.protocol === 'https:') return true;
  const isRehearsed = e.BURSAR_ENV === 'sandbox' || e.BURSAR_LIVE_REHEARSAL;
  return LOOPBACK.has(url.hostname) && isRehearsed;
}
