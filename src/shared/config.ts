import { z } from 'zod';

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

  /** Metrics are off without a port. API and worker need different ports where they share a host. */
  BURSAR_METRICS_PORT: port.optional(),
  /** Defaults to the address that the API listens on. */
  BURSAR_METRICS_HOST: z.string().min(1).optional(),
  /** Port of the metrics of Temporal's SDK, served by the worker. */
  BURSAR_TEMPORAL_METRICS_PORT: port.optional(),
  /** Requests per minute from one address without a valid key. */
  BURSAR_UNAUTHENTICATED_PER_MINUTE: z.coerce.number().int().min(1).default(60),
  /** Kills the process at a named point; see failpoints.ts. For tests only: refused in live. */
  BURSAR_FAILPOINT: z.string().min(1).optional(),
  BURSAR_LOG_LEVEL: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info'),

  MONGODB_URI: z.string().min(1),
  BURSAR_DATABASE: z.string().min(1).optional(),
  TEMPORAL_ADDRESS: z.string().min(1).default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().min(1).optional(),
  /** Prefix of the task queues. Workers with another prefix form a separate set. */
  BURSAR_TASK_QUEUE: z.string().min(1).default('bursar'),

  /** Key of the HMAC under which API keys are stored. Without it, a stolen database holds no usable hash. */
  BURSAR_KEY_PEPPER: z.string().min(32),

  /** Allows live with the sandbox bank, which moves no money: live has no other bank yet. */
  BURSAR_LIVE_REHEARSAL: flag(false),
  SANDBOX_BANK_URL: z.url().default('http://127.0.0.1:8090'),
  /** Authenticates the service to the sandbox bank, and signs the bank's callbacks. */
  SANDBOX_BANK_SECRET: z.string().min(16),
  SANDBOX_BANK_DEDUPLICATE: flag(true),
  SANDBOX_BANK_CONCLUSIVE_AFTER_MS: milliseconds.default(5_000),
  SANDBOX_BANK_TIMEOUT_MS: milliseconds.max(10_000).default(5_000),
  SANDBOX_BANK_CALLS_PER_SECOND: z.coerce.number().positive().default(1_000),

  /** Time after which an instruction without an outcome is raised to an operator. */
  BURSAR_ATTENTION_AFTER_MS: milliseconds.default(24 * 60 * 60 * 1000),
  /** Longest pause between two polls. */
  BURSAR_POLL_MAX_MS: milliseconds.default(10 * 60 * 1000),
  /** Time without any activity after which the dispatcher restarts a record's workflow. */
  BURSAR_STALL_TIMEOUT_MS: milliseconds.default(30_000),
  BURSAR_NAME_ENQUIRY_TIMEOUT_MS: milliseconds.default(2_000),
  /**
   * Deadline of a just-in-time funding, counted from the request. Without a confirmation by then, the caller gets a
   * failure.
   */
  BURSAR_JIT_DEADLINE_MS: milliseconds.max(10_000).default(2_000),
  /** Deadline of a card authorization, which is declined if it has not been decided by then. */
  BURSAR_AUTHORIZATION_DEADLINE_MS: milliseconds.max(10_000).default(1_500),
  /** Time an authorization holds its money if the issuer never reports a capture or a reversal. */
  BURSAR_AUTHORIZATION_HOLD_DAYS: z.coerce.number().positive().max(90).default(7),

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
  .refine((e) => e.BURSAR_ENV !== 'live' || e.BURSAR_LIVE_REHEARSAL, {
    path: ['BURSAR_ENV'],
    message:
      'the only bank of live is the sandbox bank, which moves no money: to rehearse, set BURSAR_LIVE_REHEARSAL=true',
  });

/** All settings of a process, checked and converted: durations in milliseconds, defaults filled in. */
export type Config = ReturnType<typeof loadConfig>;

/**
 * Reads and checks the environment variables; no other code reads them. Throws an error that lists every invalid
 * setting.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env) {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`The environment variables are not valid:\n${lines.join('\n')}`);
  }
  const e = parsed.data;
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
    metrics: {
      host: e.BURSAR_METRICS_HOST ?? e.BURSAR_HOST,
      port: e.BURSAR_METRICS_PORT,
      temporalPort: e.BURSAR_TEMPORAL_METRICS_PORT,
    },
    failpoint: e.BURSAR_FAILPOINT ?? null,
    logLevel: e.BURSAR_LOG_LEVEL,
    mongodb: { uri: e.MONGODB_URI, database: e.BURSAR_DATABASE ?? `bursar_${e.BURSAR_ENV}` },
    temporal: {
      address: e.TEMPORAL_ADDRESS,
      namespace: e.TEMPORAL_NAMESPACE ?? `bursar-${e.BURSAR_ENV}`,
      taskQueue: e.BURSAR_TASK_QUEUE,
    },
    keyPepper: e.BURSAR_KEY_PEPPER,
    sandboxBank: {
      url: e.SANDBOX_BANK_URL,
      secret: e.SANDBOX_BANK_SECRET,
      deduplicates: e.SANDBOX_BANK_DEDUPLICATE,
      conclusiveAfterMs: e.SANDBOX_BANK_CONCLUSIVE_AFTER_MS,
      timeoutMs: e.SANDBOX_BANK_TIMEOUT_MS,
      callsPerSecond: e.SANDBOX_BANK_CALLS_PER_SECOND,
    },
    instructions: {
      attentionAfterMs: e.BURSAR_ATTENTION_AFTER_MS,
      pollMaxMs: e.BURSAR_POLL_MAX_MS,
      stallTimeoutMs: e.BURSAR_STALL_TIMEOUT_MS,
    },
    transfers: {
      nameEnquiryTimeoutMs: e.BURSAR_NAME_ENQUIRY_TIMEOUT_MS,
    },
    cards: {
      jitDeadlineMs: e.BURSAR_JIT_DEADLINE_MS,
      authorizationDeadlineMs: e.BURSAR_AUTHORIZATION_DEADLINE_MS,
      authorizationHoldMs: e.BURSAR_AUTHORIZATION_HOLD_DAYS * 24 * 60 * 60 * 1000,
    },
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
      retentionMs: e.BURSAR_WEBHOOK_RETENTION_DAYS * 24 * 60 * 60 * 1000,
    },
  };
}
