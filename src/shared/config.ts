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
  .refine((list) => list.every((day, i) => i === 0 || day > Number(list[i - 1])), 'must rise');

const DUNNING_DAYS = [1, 3, 5, 7];
const WEBHOOK_RETRY_SECONDS = [5, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400, 86_400];

const fields = z.object({
  BURSAR_ENV: z.enum(['sandbox', 'live']).default('sandbox'),
  /** Not HOST: some shells export that as the name of the machine. */
  BURSAR_HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  /** Addresses in front of us whose X-Forwarded-For entry is believed. */
  BURSAR_TRUSTED_PROXIES: z.coerce.number().int().min(0).default(0),
  /** Connections at once; further ones are closed. */
  BURSAR_MAX_CONNECTIONS: z.coerce.number().int().positive().default(10_000),
  /** Past these, requests are answered 503 before anything is done for them. See http/load.ts. */
  BURSAR_MAX_IN_FLIGHT: z.coerce.number().int().positive().default(2_000),
  BURSAR_MAX_EVENT_LOOP_LAG_MS: milliseconds.default(1_000),
  /** From "not ready" to the last new connection: the time a load balancer takes to see it. */
  BURSAR_DRAIN_NOTICE_MS: z.coerce.number().int().min(0).default(0),

  /** Metrics are off without a port. API and worker need one each where they share a host. */
  BURSAR_METRICS_PORT: port.optional(),
  /** By default where the API listens. */
  BURSAR_METRICS_HOST: z.string().min(1).optional(),
  /** The worker's: what Temporal's SDK has to say about itself. */
  BURSAR_TEMPORAL_METRICS_PORT: port.optional(),
  /** Requests of one address without a valid key. */
  BURSAR_UNAUTHENTICATED_PER_MINUTE: z.coerce.number().int().min(1).default(60),
  /** Has the process die at a named point; see failpoints.ts. For tests: refused in live. */
  BURSAR_FAILPOINT: z.string().min(1).optional(),
  BURSAR_LOG_LEVEL: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info'),

  MONGODB_URI: z.string().min(1),
  BURSAR_DATABASE: z.string().min(1).optional(),
  TEMPORAL_ADDRESS: z.string().min(1).default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().min(1).optional(),
  /** Prefix of the task queues: another prefix is another, separate set of workers. */
  BURSAR_TASK_QUEUE: z.string().min(1).default('bursar'),

  /** Key of the HMAC under which API keys are stored; without it a stolen database holds no usable hash. */
  BURSAR_KEY_PEPPER: z.string().min(32),

  /** The sandbox bank moves no money, and live has no other bank yet: this is how a rehearsal says that it knows. */
  BURSAR_LIVE_REHEARSAL: flag(false),
  SANDBOX_BANK_URL: z.url().default('http://127.0.0.1:8090'),
  /** Authenticates us at the sandbox bank and signs its callbacks. */
  SANDBOX_BANK_SECRET: z.string().min(16),
  SANDBOX_BANK_DEDUPLICATE: flag(true),
  SANDBOX_BANK_CONCLUSIVE_AFTER_MS: milliseconds.default(5_000),
  SANDBOX_BANK_TIMEOUT_MS: milliseconds.max(10_000).default(5_000),
  SANDBOX_BANK_CALLS_PER_SECOND: z.coerce.number().positive().default(1_000),

  /** How long a transfer may stay unresolved before an operator is asked for. */
  BURSAR_ATTENTION_AFTER_MS: milliseconds.default(24 * 60 * 60 * 1000),
  /** Longest pause between two polls. */
  BURSAR_POLL_MAX_MS: milliseconds.default(10 * 60 * 1000),
  /** How long after its last sign of life a record's workflow is started again. */
  BURSAR_STALL_TIMEOUT_MS: milliseconds.default(30_000),
  BURSAR_NAME_ENQUIRY_TIMEOUT_MS: milliseconds.default(2_000),
  /** From the request on: a just-in-time funding that is not confirmed by then has failed for who asked for it. */
  BURSAR_JIT_DEADLINE_MS: milliseconds.max(10_000).default(2_000),
  /** An authorization that could not be decided by then is declined. */
  BURSAR_AUTHORIZATION_DEADLINE_MS: milliseconds.max(10_000).default(1_500),
  /** How long an authorization holds its money if the issuer never says what became of it. */
  BURSAR_AUTHORIZATION_HOLD_DAYS: z.coerce.number().positive().max(90).default(7),

  /** So many days after its first soft decline a merchant-initiated charge is tried again. A tenant may have others. */
  BURSAR_DUNNING_DAYS: days.default(DUNNING_DAYS),
  /** How long a customer has to pay on the provider's page. */
  BURSAR_CHARGE_EXPIRES_MS: milliseconds.default(24 * 60 * 60 * 1000),
  /** The pauses before an issuer's event that could not be applied is tried again, in seconds; then it needs a replay. */
  BURSAR_PROVIDER_EVENT_RETRY_SECONDS: seconds.default([1, 5, 30, 120, 600]),
  /** How long events of issuers are kept; what could not be applied is kept longer. */
  BURSAR_PROVIDER_EVENT_RETENTION_DAYS: z.coerce.number().int().min(1).max(36_500).default(90),

  /** Lets webhooks go to private addresses, one's own machine for one. Development only: refused in live. */
  BURSAR_WEBHOOK_ALLOW_PRIVATE: flag(false),
  BURSAR_WEBHOOK_TIMEOUT_MS: milliseconds.max(10_000).default(10_000),
  /** The pauses before each further attempt, in seconds; a delivery is dead after the last. */
  BURSAR_WEBHOOK_RETRY_SECONDS: seconds.default(WEBHOOK_RETRY_SECONDS),
  /** How long events are kept, with their deliveries; what is still to be delivered is kept longer. */
  BURSAR_WEBHOOK_RETENTION_DAYS: z.coerce.number().int().min(1).max(36_500).default(90),
});
const environment = fields
  .refine((e) => !(e.BURSAR_ENV === 'live' && e.BURSAR_WEBHOOK_ALLOW_PRIVATE), {
    path: ['BURSAR_WEBHOOK_ALLOW_PRIVATE'],
    message: 'is not for live',
  })
  .refine((e) => !(e.BURSAR_ENV === 'live' && e.BURSAR_FAILPOINT !== undefined), {
    path: ['BURSAR_FAILPOINT'],
    message: 'is not for live',
  })
  .refine((e) => e.BURSAR_ENV !== 'live' || e.BURSAR_LIVE_REHEARSAL, {
    path: ['BURSAR_ENV'],
    message:
      'live has no bank but the sandbox bank, which moves no money: BURSAR_LIVE_REHEARSAL=true says that this is known',
  });

export type Config = ReturnType<typeof loadConfig>;

/** Reads the environment, the only place that does. Throws one error that lists everything that is wrong. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env) {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`The environment is not usable:\n${lines.join('\n')}`);
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
      retryMs: e.BURSAR_PROVIDER_EVENT_RETRY_SECONDS.map((one) => one * 1000),
      retentionMs: e.BURSAR_PROVIDER_EVENT_RETENTION_DAYS * 24 * 60 * 60 * 1000,
    },
    payments: {
      dunningDays: e.BURSAR_DUNNING_DAYS,
      chargeExpiresMs: e.BURSAR_CHARGE_EXPIRES_MS,
    },
    webhooks: {
      allowPrivate: e.BURSAR_WEBHOOK_ALLOW_PRIVATE,
      timeoutMs: e.BURSAR_WEBHOOK_TIMEOUT_MS,
      scheduleMs: e.BURSAR_WEBHOOK_RETRY_SECONDS.map((one) => one * 1000),
      retentionMs: e.BURSAR_WEBHOOK_RETENTION_DAYS * 24 * 60 * 60 * 1000,
    },
  };
}
