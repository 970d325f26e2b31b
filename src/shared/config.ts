import type { z } from 'zod';
import { unprotectedConnections } from './live-connections.js';
import { checkOidc, oidcOf } from './oidc-settings.js';
import { paystackOf } from './paystack-settings.js';
import { isGuessablePepper } from './key-peppers.js';
import { isGuessable } from './sealing-keys.js';
import { withSecretFiles } from './secret-files.js';
import { allowsSandboxBank, checkProviders, providersOf } from './provider-settings.js';
import { settings } from './settings.js';
import { StartRefused } from './start-refused.js';
import { temporalOf } from './temporal-settings.js';

/** The names of the environment variables of API, worker and command line. */
export const CONFIG_VARIABLES: readonly string[] = Object.keys(settings.shape);

const environment = settings
  .refine((e) => !(e.BURSAR_ENV === 'live' && e.BURSAR_WEBHOOK_ALLOW_PRIVATE), {
    path: ['BURSAR_WEBHOOK_ALLOW_PRIVATE'],
    message: 'must not be set when BURSAR_ENV is live',
  })
  .refine((e) => !(e.BURSAR_ENV === 'live' && e.BURSAR_FAILPOINT !== undefined), {
    path: ['BURSAR_FAILPOINT'],
    message: 'must not be set when BURSAR_ENV is live',
  })
  .refine((e) => !(e.BURSAR_ENV === 'live' && e.BURSAR_SEALING_KEYS.some(isGuessable)), {
    path: ['BURSAR_SEALING_KEYS'],
    message: 'must have random keys when BURSAR_ENV is live',
  })
  // Only the first: an old one must be readable until the keys under it are exchanged.
  .refine(
    (e) => !(e.BURSAR_ENV === 'live' && e.BURSAR_KEY_PEPPER.slice(0, 1).some(isGuessablePepper)),
    {
      path: ['BURSAR_KEY_PEPPER'],
      message: 'must begin with a random pepper when BURSAR_ENV is live',
    },
  )
  .refine(
    (e) => (e.BURSAR_WORKER_DEPLOYMENT === undefined) === (e.BURSAR_WORKER_BUILD_ID === undefined),
    {
      path: ['BURSAR_WORKER_BUILD_ID'],
      message: 'must be set together with BURSAR_WORKER_DEPLOYMENT',
    },
  )
  .superRefine(checkProviders)
  .superRefine(checkOidc);

/** All settings of a process, checked and converted: durations in milliseconds, defaults filled in. */
export type Config = ReturnType<typeof loadConfig>;

/** The variables that are set: an empty one is not. */
export const definedOnly = (values: Record<string, string | undefined>) =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  );

/**
 * Reads and checks the environment variables, and the files that `<NAME>_FILE` names; no other code reads them. Throws a
 * `StartRefused` that lists every invalid setting.
 */
export function loadConfig(given: NodeJS.ProcessEnv = process.env) {
  const env = definedOnly(withSecretFiles(given));
  const parsed = environment.safeParse(env);
  if (!parsed.success) throw invalid(parsed.error.issues.map((issue) => lineOf(issue, env)));
  const e = parsed.data;
  const temporal = temporalOf(e, env);
  if (e.BURSAR_ENV === 'live') {
    const problems = unprotectedConnections(e.MONGODB_URI, temporal.connection);
    if (problems.length > 0) throw invalid(problems.map((of) => `${of.setting}: ${of.message}`));
  }
  return {
    environment: e.BURSAR_ENV,
    http: {
      host: e.BURSAR_HOST,
      port: e.PORT,
      trustedProxies: e.BURSAR_TRUSTED_PROXIES,
      unauthenticatedPerMinute: e.BURSAR_UNAUTHENTICATED_PER_MINUTE,
      maxConnections: e.BURSAR_MAX_CONNECTIONS,
      drainNoticeMs: e.BURSAR_DRAIN_NOTICE_MS,
    },
    load: { maxInFlight: e.BURSAR_MAX_IN_FLIGHT, maxLagMs: e.BURSAR_MAX_EVENT_LOOP_LAG_MS },
    internal: { host: e.BURSAR_INTERNAL_HOST, port: e.BURSAR_INTERNAL_PORT },
    ...operatorsOf(e),
    failpoint: e.BURSAR_FAILPOINT ?? null,
    logLevel: e.BURSAR_LOG_LEVEL,
    debugSample: e.BURSAR_LOG_DEBUG_SAMPLE,
    mongodb: { uri: e.MONGODB_URI, database: e.BURSAR_DATABASE ?? `bursar_${e.BURSAR_ENV}` },
    temporal,
    keyPeppers: e.BURSAR_KEY_PEPPER,
    sealingKeys: e.BURSAR_SEALING_KEYS,
    /** The name of the provider of each capability's new records, or null. */
    providers: providersOf(e),
    providerHealthEveryMs: e.BURSAR_PROVIDER_HEALTH_EVERY_MS,
    sandboxBank: sandboxBankOf(e),
    paystack: paystackOf(e),
    instructions: {
      attentionAfterMs: e.BURSAR_ATTENTION_AFTER_MS,
      pollMaxMs: e.BURSAR_POLL_MAX_MS,
      stallTimeoutMs: e.BURSAR_STALL_TIMEOUT_MS,
    },
    reconciliation: {
      days: e.BURSAR_RECONCILIATION_DAYS,
      statementDays: e.BURSAR_STATEMENT_DAYS,
      everyMs: e.BURSAR_RECONCILIATION_EVERY_MS,
    },
    ledger: { closingEveryMs: e.BURSAR_LEDGER_CLOSING_EVERY_MS },
    transfers: {
      maxOpen: e.BURSAR_MAX_OPEN_TRANSFERS,
      nameEnquiryTimeoutMs: e.BURSAR_NAME_ENQUIRY_TIMEOUT_MS,
    },
    cards: cardsOf(e),
    ...accountsOf(e),
    providerEvents: {
      retryMs: e.BURSAR_PROVIDER_EVENT_RETRY_SECONDS.map((value) => value * 1000),
      retentionMs: e.BURSAR_PROVIDER_EVENT_RETENTION_DAYS * 24 * 60 * 60 * 1000,
    },
    payments: {
      dunningDays: e.BURSAR_DUNNING_DAYS,
      chargeExpiresMs: e.BURSAR_CHARGE_EXPIRES_MS,
      maxOpenOfPublicKeys: e.BURSAR_MAX_OPEN_PUBLIC_CHARGES,
    },
    webhooks: {
      allowPrivate: e.BURSAR_WEBHOOK_ALLOW_PRIVATE,
      timeoutMs: e.BURSAR_WEBHOOK_TIMEOUT_MS,
      scheduleMs: e.BURSAR_WEBHOOK_RETRY_SECONDS.map((value) => value * 1000),
      parkAfterMs: e.BURSAR_WEBHOOK_PARK_AFTER_DAYS * 24 * 60 * 60 * 1000,
      retentionMs: e.BURSAR_WEBHOOK_RETENTION_DAYS * 24 * 60 * 60 * 1000,
    },
  };
}

/** An invalid setting in a line. The schema's own message is about a value, and one that is not set has none. */
function lineOf({ path, message }: z.core.$ZodIssue, env: object): string {
  const name = path.join('.');
  const fields: Record<string, z.ZodType> = settings.shape;
  const isMissing = !(name in env) && fields[name]?.safeParse(undefined).success === false;
  return `${name}: ${isMissing ? 'is not set, and has no default' : message}`;
}

const invalid = (problems: string[]) =>
  new StartRefused(
    `The environment variables are not valid:\n${problems.map((each) => `  ${each}\n`).join('')}` +
      'docs/settings.md has the meaning of each.',
  );

/** The settings of virtual accounts and deposits. */
const accountsOf = (e: z.output<typeof environment>) => ({
  virtualAccounts: { maxPerCustomer: e.BURSAR_MAX_ACCOUNTS_PER_CUSTOMER },
  deposits: {
    maxMinor: BigInt(e.BURSAR_MAX_DEPOSIT_MINOR),
    days: e.BURSAR_DEPOSIT_SEARCH_DAYS,
    everyMs: e.BURSAR_DEPOSIT_SEARCH_EVERY_MS,
  },
});

/** The settings of what only operators reach: their API, approvals, metrics and traces. */
const operatorsOf = (e: z.output<typeof environment>) => ({
  operators: { host: e.BURSAR_OPERATOR_HOST, port: e.BURSAR_OPERATOR_PORT },
  /** The sign-in of operators by OpenID Connect; null: by keys. */
  oidc: oidcOf(e),
  approvals: {
    all: e.BURSAR_ENV === 'live' || e.BURSAR_APPROVALS === 'all',
    creditAboveMinor: BigInt(e.BURSAR_APPROVAL_CREDIT_ABOVE_MINOR),
    keys: e.BURSAR_ENV === 'live',
  },
  metrics: {
    host: e.BURSAR_METRICS_HOST,
    port: e.BURSAR_METRICS_PORT,
    temporalPort: e.BURSAR_TEMPORAL_METRICS_PORT,
  },
  tracing: tracingOf(e),
});

/** The settings of traces; null without a collector. */
const tracingOf = (e: z.output<typeof environment>) =>
  e.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
    ? null
    : {
        url: `${e.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/$/, '')}/v1/traces`,
        headers: e.OTEL_EXPORTER_OTLP_HEADERS,
        sampled: e.OTEL_TRACES_SAMPLER_ARG,
      };

/** The settings of cards. */
function cardsOf(e: z.output<typeof environment>) {
  return {
    stateRecheckMs: e.BURSAR_CARD_STATE_RECHECK_MS,
    jitDeadlineMs: e.BURSAR_JIT_DEADLINE_MS,
    authorizationTerms: {
      holdMs: e.BURSAR_AUTHORIZATION_HOLD_DAYS * 24 * 60 * 60 * 1000,
      overClearingPercent: e.BURSAR_OVER_CLEARING_PERCENT,
      overClearingMinor: BigInt(e.BURSAR_OVER_CLEARING_MINOR),
      mostReports: e.BURSAR_AUTHORIZATION_MAX_REPORTS,
    },
  };
}

/** The settings of the sandbox bank; null if it is not configured. */
function sandboxBankOf(e: z.output<typeof environment>) {
  if (e.SANDBOX_BANK_SECRET === undefined || !allowsSandboxBank(e)) return null;
  const [secret = '', ...earlierSecrets] = e.SANDBOX_BANK_SECRET;
  return {
    url: e.SANDBOX_BANK_URL,
    secret,
    earlierSecrets: earlierSecrets as readonly string[],
    deduplicates: e.SANDBOX_BANK_DEDUPLICATE,
    deduplicatesForMs:
      e.SANDBOX_BANK_IDEMPOTENT_FOR_MS ?? e.SANDBOX_BANK_DEDUPLICATE_FOR_MS ?? null,
    resendSafety: e.SANDBOX_BANK_RESEND_SAFETY ?? null,
    prepares: e.SANDBOX_BANK_PREPARE,
    conclusiveAfterMs: e.SANDBOX_BANK_CONCLUSIVE_AFTER_MS,
    decisionDeadlineMs: e.BURSAR_AUTHORIZATION_DEADLINE_MS,
    cardBalances: e.SANDBOX_BANK_CARD_BALANCES,
    pages: e.SANDBOX_BANK_PAGES,
    cardStateSequence: e.SANDBOX_BANK_CARD_STATE_SEQUENCE,
    cardLookup: e.SANDBOX_BANK_CARD_LOOKUP,
    timeoutMs: e.SANDBOX_BANK_TIMEOUT_MS,
    callsPerSecond: e.SANDBOX_BANK_CALLS_PER_SECOND,
    submissionsPerSecond: e.SANDBOX_BANK_SUBMISSIONS_PER_SECOND ?? null,
  };
}
