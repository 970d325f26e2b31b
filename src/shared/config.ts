import { z } from 'zod';
import { unprotectedConnections } from './live-connections.js';
import { checkOidc, oidcFields, oidcOf } from './oidc-settings.js';
import { paystackOf, paystackVariables } from './paystack-settings.js';
import { isGuessable, parseSealingKeys } from './sealing-keys.js';
import {
  allowsSandboxBank,
  checkProviders,
  providerFields,
  providersOf,
} from './provider-settings.js';
import { temporalOf } from './temporal-settings.js';

const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'])
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true');
const milliseconds = z.coerce.number().int().positive();
const port = z.coerce.number().int().min(1).max(65_535);
const seconds = z
  .string()
  .transform((list) => list.split(',').map(Number))
  .pipe(z.array(z.number().nonnegative()).max(20));

const days = z
  .string()
  .transform((list) => list.split(',').map(Number))
  .pipe(z.array(z.number().positive().max(90)).max(20))
  .refine(
    (list) => list.every((day, i) => i === 0 || day > Number(list[i - 1])),
    'must be in ascending order',
  );

const sealingKeys = z.string().transform((list, ctx) => {
  try {
    return parseSealingKeys(list);
  } catch (error) {
    ctx.addIssue({ code: 'custom', message: (error as Error).message, input: null });
    return z.NEVER;
  }
});

/** The headers of a list `name=value,…`. */
const headersOf = (list: string): Record<string, string> =>
  Object.fromEntries(
    list
      .split(',')
      .map((pair) => pair.trim())
      .filter((pair) => pair.includes('='))
      .map((pair) => {
        const at = pair.indexOf('=');
        return [decodeURIComponent(pair.slice(0, at)), decodeURIComponent(pair.slice(at + 1))];
      }),
  );

const DUNNING_DAYS = [1, 3, 5, 7];
const WEBHOOK_RETRY_SECONDS = [5, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400, 86_400];

const fields = z.object({
  BURSAR_ENV: z.enum(['sandbox', 'live']).default('sandbox'),
  /** Not HOST: some shells export HOST as the name of the machine. */
  BURSAR_HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  /** Number of proxies in front of the service whose X-Forwarded-For entries are trusted. */
  BURSAR_TRUSTED_PROXIES: z.coerce.number().int().min(0).default(0),
  /** Bound on open connections; further ones are closed. */
  BURSAR_MAX_CONNECTIONS: z.coerce.number().int().positive().default(10_000),
  /** Above these limits requests get 503 before any work is done for them; see http/load.ts. */
  BURSAR_MAX_IN_FLIGHT: z.coerce.number().int().positive().default(2_000),
  BURSAR_MAX_EVENT_LOOP_LAG_MS: milliseconds.default(1_000),
  /** Time between "not ready" and the last accepted connection: a load balancer needs it to notice. */
  BURSAR_DRAIN_NOTICE_MS: z.coerce.number().int().min(0).default(0),

  /** Address at which other processes reach this API, to have it commit for them; see commit/forwarding.ts. */
  BURSAR_INTERNAL_HOST: z.string().min(1).optional(),
  /** 0 picks a free port, which the other processes read from the database. */
  BURSAR_INTERNAL_PORT: z.coerce.number().int().min(0).max(65_535).default(0),

  /** The operator API is off without a port. */
  BURSAR_OPERATOR_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  BURSAR_OPERATOR_HOST: z.string().min(1).default('127.0.0.1'),
  ...oidcFields,
  /** Acts that a second person approves: those without the provider's word, or all that the policy names. */
  BURSAR_APPROVALS: z.enum(['forced', 'all']).default('forced'),
  /** With BURSAR_APPROVALS=all, larger credits are approved. */
  BURSAR_APPROVAL_CREDIT_ABOVE_MINOR: z.coerce.number().int().min(0).default(100_000_000),

  /** Metrics are off without a port. API and worker need different ports where they share a host. */
  BURSAR_METRICS_PORT: port.optional(),
  BURSAR_METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  /** Port of the metrics of Temporal's SDK, served by the worker. */
  BURSAR_TEMPORAL_METRICS_PORT: port.optional(),
  /** Address of a collector of traces (OTLP over HTTP, JSON). Without it, there are no traces. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  /** `name=value` pairs, separated by commas, percent-encoded. */
  OTEL_EXPORTER_OTLP_HEADERS: z.string().default('').transform(headersOf),
  /** Share of the records that are traced. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  /** Requests per minute from one address without a valid key. */
  BURSAR_UNAUTHENTICATED_PER_MINUTE: z.coerce.number().int().min(1).default(60),
  /** Kills the process at a named point; see failpoints.ts. For tests only: refused in live. */
  BURSAR_FAILPOINT: z.string().min(1).optional(),
  BURSAR_LOG_LEVEL: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info'),

  MONGODB_URI: z.string().min(1),
  BURSAR_DATABASE: z.string().min(1).optional(),
  /** Overrides the address of the Temporal profile; see temporalOf. */
  TEMPORAL_ADDRESS: z.string().min(1).optional(),
  TEMPORAL_NAMESPACE: z.string().min(1).optional(),
  /** Prefix of the task queues. Workers with another prefix form a separate set. */
  BURSAR_TASK_QUEUE: z.string().min(1).default('bursar'),
  /** Name of the Worker Deployment. With it, workers have versions, and nothing runs until one of them is the current one. */
  BURSAR_WORKER_DEPLOYMENT: z
    .string()
    .regex(/^[\w-]{1,100}$/)
    .optional(),
  /** The version of this worker in its deployment, such as a commit. */
  BURSAR_WORKER_BUILD_ID: z
    .string()
    .regex(/^[\w.-]{1,100}$/)
    .optional(),

  /** Key of the HMAC under which API keys are stored. Without it, a stolen database holds no usable hash. */
  BURSAR_KEY_PEPPER: z.string().min(32),
  /** Keys that seal fields in the database, `id:base64` each. The first one seals, all of them open. */
  BURSAR_SEALING_KEYS: sealingKeys,

  ...providerFields,
  ...paystackVariables,
  /** Allows live with the sandbox bank, which moves no money. */
  BURSAR_LIVE_REHEARSAL: flag(false),
  SANDBOX_BANK_URL: z.url().default('http://127.0.0.1:8090'),
  /** Authenticates the service to the sandbox bank, and signs the bank's callbacks. */
  SANDBOX_BANK_SECRET: z.string().min(16).optional(),
  SANDBOX_BANK_DEDUPLICATE: flag(true),
  SANDBOX_BANK_DEDUPLICATE_FOR_MS: milliseconds.optional(),
  SANDBOX_BANK_CONCLUSIVE_AFTER_MS: milliseconds.default(5_000),
  SANDBOX_BANK_IDEMPOTENT_FOR_MS: milliseconds.optional(),
  SANDBOX_BANK_RESEND_SAFETY: z
    .enum(['idempotent', 'conclusive_after', 'fence', 'never'])
    .optional(),
  SANDBOX_BANK_PREPARE: flag(false),
  SANDBOX_BANK_CARD_BALANCES: z.enum(['issuer', 'ours']).default('issuer'),
  SANDBOX_BANK_PAGES: z.enum(['repeatable', 'new_reference']).default('repeatable'),
  SANDBOX_BANK_CARD_STATE_SEQUENCE: z.enum(['issuer', 'ours']).default('issuer'),
  SANDBOX_BANK_TIMEOUT_MS: milliseconds.max(10_000).default(5_000),
  SANDBOX_BANK_CALLS_PER_SECOND: z.coerce.number().positive().default(1_000),

  /** Time after which an instruction without an outcome is raised to an operator. */
  BURSAR_ATTENTION_AFTER_MS: milliseconds.default(24 * 60 * 60 * 1000),
  /** Longest pause between two polls. */
  BURSAR_POLL_MAX_MS: milliseconds.default(10 * 60 * 1000),
  /** Time without any activity after which the dispatcher restarts a record's workflow. */
  BURSAR_STALL_TIMEOUT_MS: milliseconds.default(30_000),
  /** New transfers are refused with 503 while so many are open. */
  BURSAR_MAX_OPEN_TRANSFERS: z.coerce.number().int().min(1).default(200_000),
  BURSAR_NAME_ENQUIRY_TIMEOUT_MS: milliseconds.default(2_000),
  /**
   * Deadline of a just-in-time funding, counted from the request. Without a confirmation by then, the caller gets a
   * failure.
   */
  BURSAR_CARD_STATE_RECHECK_MS: milliseconds.default(30 * 60_000),
  BURSAR_JIT_DEADLINE_MS: milliseconds.max(10_000).default(2_000),
  /** Deadline of a card authorization, which is declined if it has not been decided by then. */
  BURSAR_AUTHORIZATION_DEADLINE_MS: milliseconds.max(10_000).default(1_500),
  /** Time an authorization holds its money if the issuer never reports a capture or a reversal. */
  BURSAR_AUTHORIZATION_HOLD_DAYS: z.coerce.number().positive().max(90).default(7),
  BURSAR_OVER_CLEARING_PERCENT: z.coerce.number().int().min(0).max(1_000).default(20),
  BURSAR_OVER_CLEARING_MINOR: z.coerce.number().int().min(0).default(500_000),

  /** Open virtual accounts that a customer may have. */
  BURSAR_MAX_ACCOUNTS_PER_CUSTOMER: z.coerce.number().int().min(1).default(10),

  /** Deposits above this amount are suspended. */
  BURSAR_MAX_DEPOSIT_MINOR: z.coerce.number().int().min(1).default(500_000_000_000),
  /** Days back that deposits without a message are looked for at their provider; 0 turns the search off. */
  BURSAR_DEPOSIT_SEARCH_DAYS: z.coerce.number().int().min(0).max(90).default(3),
  /** Time between two starts of that search. */
  BURSAR_DEPOSIT_SEARCH_EVERY_MS: milliseconds.default(15 * 60 * 1000),
  /** Time between two health checks of a provider. */
  BURSAR_PROVIDER_HEALTH_EVERY_MS: milliseconds.default(30_000),

  /** Days back that ended transfers are compared with their provider; 0 turns the comparison off. */
  BURSAR_RECONCILIATION_DAYS: z.coerce.number().int().min(0).max(90).default(7),
  /** Time between two starts of the comparison; a longer one goes on, and the next begins after it. */
  BURSAR_RECONCILIATION_EVERY_MS: milliseconds.default(24 * 60 * 60 * 1000),

  /** Time between two runs that close the ledger's days; 0 turns them off. */
  BURSAR_LEDGER_CLOSING_EVERY_MS: z.coerce
    .number()
    .int()
    .min(0)
    .default(60 * 60 * 1000),

  /** Days after the first soft decline on which a merchant-initiated charge is retried. A tenant may override them. */
  BURSAR_DUNNING_DAYS: days.default(DUNNING_DAYS),
  /** Time a customer has to pay on the provider's page. */
  BURSAR_CHARGE_EXPIRES_MS: milliseconds.default(24 * 60 * 60 * 1000),
  /**
   * Pauses, in seconds, before each retry of a provider event that could not be applied. After the last value it needs a
   * replay.
   */
  BURSAR_PROVIDER_EVENT_RETRY_SECONDS: seconds.default([1, 5, 30, 120, 600]),
  /** Days that provider events are kept. Events that could not be applied are kept longer. */
  BURSAR_PROVIDER_EVENT_RETENTION_DAYS: z.coerce.number().int().min(1).max(36_500).default(90),

  /** Allows webhooks to private addresses, such as the developer's own machine. Refused in live. */
  BURSAR_WEBHOOK_ALLOW_PRIVATE: flag(false),
  BURSAR_WEBHOOK_TIMEOUT_MS: milliseconds.max(10_000).default(10_000),
  /** Pauses, in seconds, before each retry of a webhook. After the last value the delivery is dead. */
  BURSAR_WEBHOOK_RETRY_SECONDS: seconds.default(WEBHOOK_RETRY_SECONDS),
  /** Days after which an endpoint that takes nothing is parked. */
  BURSAR_WEBHOOK_PARK_AFTER_DAYS: z.coerce.number().positive().max(365).default(3),
  /** Days that webhook events are kept with their deliveries. Events with pending deliveries are kept longer. */
  BURSAR_WEBHOOK_RETENTION_DAYS: z.coerce.number().int().min(1).max(36_500).default(90),
});
const environment = fields
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

/**
 * Reads and checks the environment variables; no other code reads them. Throws an error that lists every invalid
 * setting.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env) {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    throw invalid(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  }
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
    mongodb: { uri: e.MONGODB_URI, database: e.BURSAR_DATABASE ?? `bursar_${e.BURSAR_ENV}` },
    temporal,
    keyPepper: e.BURSAR_KEY_PEPPER,
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

const invalid = (problems: string[]) =>
  new Error(
    `The environment variables are not valid:\n${problems.map((each) => `  ${each}`).join('\n')}`,
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
    },
  };
}

/** The settings of the sandbox bank; null if it is not configured. */
function sandboxBankOf(e: z.output<typeof environment>) {
  if (e.SANDBOX_BANK_SECRET === undefined || !allowsSandboxBank(e)) return null;
  return {
    url: e.SANDBOX_BANK_URL,
    secret: e.SANDBOX_BANK_SECRET,
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
    timeoutMs: e.SANDBOX_BANK_TIMEOUT_MS,
    callsPerSecond: e.SANDBOX_BANK_CALLS_PER_SECOND,
  };
}
