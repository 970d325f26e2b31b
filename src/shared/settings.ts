import { z } from 'zod';
import { parseKeyPeppers } from './key-peppers.js';
import { oidcFields } from './oidc-settings.js';
import { paystackVariables } from './paystack-settings.js';
import { providerFields } from './provider-settings.js';
import { sandboxBankFields } from './sandbox-bank-settings.js';
import { parseSealingKeys } from './sealing-keys.js';
import {
  days,
  flag,
  headers,
  milliseconds,
  parsedBy,
  port,
  portOrAny,
  seconds,
  whole,
} from './setting-types.js';

// Each setting has its meaning as `description`, and as `live` what live asks of it beyond that: docs/settings.md is made
// from both, by `npm run openapi`.

const daysBack = whole.min(0).max(90);
const DUNNING_DAYS = [1, 3, 5, 7];
const WEBHOOK_RETRY_SECONDS = [5, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400, 86_400];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const api = {
  BURSAR_ENV: z
    .enum(['sandbox', 'live'])
    .default('sandbox')
    .describe('environment that this process serves')
    .meta({ live: '`live`' }),
  // Not HOST: some shells export HOST as the name of the machine.
  BURSAR_HOST: z.string().default('127.0.0.1').describe('address at which the API listens'),
  PORT: portOrAny.default(8080).describe('port of the API; 0 takes a free one'),
  BURSAR_TRUSTED_PROXIES: whole
    .min(0)
    .default(0)
    .describe('number of proxies in front of the API whose `X-Forwarded-For` entries are trusted'),
  BURSAR_UNAUTHENTICATED_PER_MINUTE: whole
    .min(1)
    .default(60)
    .describe('requests per minute from one address without a valid key'),
  BURSAR_MAX_CONNECTIONS: whole
    .positive()
    .default(10_000)
    .describe('open connections; further ones are closed'),
  BURSAR_MAX_IN_FLIGHT: whole
    .positive()
    .default(2_000)
    .describe(
      'requests in progress; further ones get 503 before any work is done for them. Those that wait for their client or by `Prefer` are not counted',
    ),
  BURSAR_MAX_EVENT_LOOP_LAG_MS: milliseconds
    .default(1_000)
    .describe(
      'requests get 503 while the event loop is late by more than this, on average of two seconds',
    ),
  BURSAR_DRAIN_NOTICE_MS: whole
    .min(0)
    .default(0)
    .describe(
      'time between "not ready" and the last accepted connection, in which a load balancer notices',
    ),
  BURSAR_INTERNAL_HOST: z
    .string()
    .min(1)
    .optional()
    .describe(
      'address at which the other API processes reach this one, which commits for them; without it, none does',
    ),
  BURSAR_INTERNAL_PORT: portOrAny
    .default(0)
    .describe(
      'port for the other API processes; 0 takes a free one, which they read from the database',
    ),
  BURSAR_LOG_LEVEL: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('least level of the lines in the log'),
  BURSAR_LOG_DEBUG_SAMPLE: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      'share of records and requests whose debug lines are written, from 0 to 1: all lines of one, or none',
    ),
};

const operators = {
  BURSAR_OPERATOR_PORT: portOrAny
    .optional()
    .describe('port of the operator API, which is off without it'),
  BURSAR_OPERATOR_HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('address of the operator API'),
  ...oidcFields,
  BURSAR_APPROVALS: z
    .enum(['forced', 'all'])
    .default('forced')
    .describe(
      'acts that a second person approves: those without the word of the provider, or all that the policy names',
    )
    .meta({ live: 'always `all`' }),
  BURSAR_APPROVAL_CREDIT_ABOVE_MINOR: whole
    .min(0)
    .default(100_000_000)
    .describe('with `BURSAR_APPROVALS=all`, larger credits and returns are approved'),
};

const observability = {
  BURSAR_METRICS_PORT: port
    .optional()
    .describe(
      'port of the metrics, which are off without it; API and worker on one host need different ones',
    ),
  BURSAR_METRICS_HOST: z.string().min(1).default('127.0.0.1').describe('address of the metrics'),
  BURSAR_TEMPORAL_METRICS_PORT: port
    .optional()
    .describe(
      'port of the metrics of Temporal’s SDK (`temporal_…`: task slots, latencies, cache), served by the worker',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url()
    .optional()
    .describe(
      'address of a collector of traces (OTLP over HTTP, JSON), to which `/v1/traces` is appended; without it, there are no traces',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: headers.describe(
    '`name=value` pairs, separated by commas, percent-encoded, such as a key of the collector',
  ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('share of the records that are traced: all spans of a record, or none'),
};

const engines = {
  MONGODB_URI: z
    .string()
    .min(1)
    .describe('replica set, or a mongos')
    .meta({ live: 'over the network: TLS with checked certificates, and a user' }),
  BURSAR_DATABASE: z
    .string()
    .min(1)
    .optional()
    .describe('database; without it `bursar_<environment>`'),
  TEMPORAL_ADDRESS: z
    .string()
    .min(1)
    .optional()
    .describe('Temporal server; without it that of Temporal’s profile, or 127.0.0.1:7233')
    .meta({ live: 'over the network: TLS, and a client certificate or API key' }),
  TEMPORAL_NAMESPACE: z
    .string()
    .min(1)
    .optional()
    .describe('namespace; without it `bursar-<environment>`'),
  BURSAR_TEMPORAL_UI_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('address of the Temporal UI; with it, operators get the address of a record’s page'),
  BURSAR_TEMPORAL_REGISTER: flag(true).describe(
    'false: the worker registers neither namespace nor search attributes, and does not start while one is missing',
  ),
  BURSAR_TASK_QUEUE: z
    .string()
    .min(1)
    .default('bursar')
    .describe('prefix of the task queues; workers with another one form a separate set'),
  BURSAR_WORKER_DEPLOYMENT: z
    .string()
    .regex(/^[\w-]{1,100}$/)
    .optional()
    .describe(
      'name of the Worker Deployment. With it, workers have versions, and nothing runs until one of them is the current one',
    ),
  BURSAR_WORKER_BUILD_ID: z
    .string()
    .regex(/^[\w.-]{1,100}$/)
    .optional()
    .describe(
      'version of this worker in its deployment, such as a commit; set together with `BURSAR_WORKER_DEPLOYMENT`',
    ),
};

const keys = {
  BURSAR_KEY_PEPPER: parsedBy(parseKeyPeppers)
    .describe(
      'keys of the HMAC under which API keys are stored: `id:pepper,id2:pepper2`, or one pepper without an id, of at least 32 characters. The first one hashes new keys, all of them find keys; a key whose pepper is gone is lost',
    )
    .meta({ live: 'the first one random' }),
  BURSAR_SEALING_KEYS: parsedBy(parseSealingKeys)
    .describe(
      'keys that seal fields in the database: `id:base64,id2:base64`, of 32 bytes each (`openssl rand -base64 32`). The first one seals, all of them open; without its key a field is lost',
    )
    .meta({ live: 'random keys' }),
};

const instructions = {
  BURSAR_ATTENTION_AFTER_MS: milliseconds
    .default(DAY_MS)
    .describe('an instruction without an outcome is raised to an operator after this'),
  BURSAR_POLL_MAX_MS: milliseconds
    .default(10 * MINUTE_MS)
    .describe('longest pause between two polls of a provider'),
  BURSAR_STALL_TIMEOUT_MS: milliseconds
    .default(30_000)
    .describe('the dispatcher restarts the workflow of a record without any activity after this'),
  BURSAR_MAX_OPEN_TRANSFERS: whole
    .min(1)
    .default(200_000)
    .describe('new transfers are refused with 503 while so many of their provider are open'),
  BURSAR_NAME_ENQUIRY_TIMEOUT_MS: milliseconds
    .default(2_000)
    .describe('bound of a name enquiry, after which a transfer is accepted without a name'),
  BURSAR_PROVIDER_HEALTH_EVERY_MS: milliseconds
    .default(30_000)
    .describe('time between two health checks of a provider; 5 s at most while it has a fault'),
  BURSAR_PROVIDER_EVENT_RETRY_SECONDS: seconds
    .default([1, 5, 30, 120, 600])
    .describe(
      'pauses before each retry of a provider event that could not be applied; after the last one it needs a replay',
    ),
  BURSAR_PROVIDER_EVENT_RETENTION_DAYS: whole
    .min(1)
    .max(36_500)
    .default(90)
    .describe('provider events are kept for this time; those that could not be applied longer'),
  BURSAR_RECONCILIATION_DAYS: daysBack
    .default(7)
    .describe(
      'days back that ended records are compared with their provider; 0 turns the comparison off',
    ),
  BURSAR_RECONCILIATION_EVERY_MS: milliseconds
    .default(DAY_MS)
    .describe(
      'time between two starts of the comparison, and of the reading of statements; a longer one goes on, and the next begins after it',
    ),
  BURSAR_STATEMENT_DAYS: daysBack
    .default(7)
    .describe(
      'days back that the own statement of a provider that has one is read and compared with the ledger, day by day; 0 turns it off',
    ),
  BURSAR_LEDGER_CLOSING_EVERY_MS: whole
    .min(0)
    .default(HOUR_MS)
    .describe('time between two runs that close the days of the ledger; 0 turns them off'),
};

const cards = {
  BURSAR_CARD_STATE_RECHECK_MS: milliseconds
    .default(30 * MINUTE_MS)
    .describe('pause before the issuer is asked again about the state of a card'),
  BURSAR_JIT_DEADLINE_MS: milliseconds
    .max(10_000)
    .default(2_000)
    .describe(
      'deadline of a just-in-time funding, counted from the request; without a confirmation by then, the caller gets a failure',
    ),
  BURSAR_AUTHORIZATION_DEADLINE_MS: milliseconds
    .max(10_000)
    .default(1_500)
    .describe('deadline of a card authorization, which is declined after it'),
  BURSAR_AUTHORIZATION_HOLD_DAYS: z.coerce
    .number()
    .positive()
    .max(90)
    .default(7)
    .describe(
      'after this, or at the end that the issuer names, the issuer is asked about a hold, and an operator is called if it is silent',
    ),
  BURSAR_OVER_CLEARING_PERCENT: whole
    .min(0)
    .max(1_000)
    .default(20)
    .describe('share above the approval that may be cleared without attention'),
  BURSAR_OVER_CLEARING_MINOR: whole
    .min(0)
    .default(500_000)
    .describe('amount above the approval that may be cleared without attention'),
  BURSAR_AUTHORIZATION_MAX_REPORTS: whole
    .min(100)
    .max(10_000)
    .default(1_000)
    .describe(
      'requests and reports of one card payment; beyond them a request is declined, and a report is a failed provider event',
    ),
};

const atLeastOne = whole.min(1);

const payments = {
  BURSAR_MAX_ACCOUNTS_PER_CUSTOMER: atLeastOne
    .default(10)
    .describe('open virtual accounts that a customer may have'),
  BURSAR_MAX_DEPOSIT_MINOR: atLeastOne
    .default(500_000_000_000)
    .describe('deposits above this amount are suspended'),
  BURSAR_DEPOSIT_SEARCH_DAYS: daysBack
    .default(3)
    .describe(
      'days back that deposits without a message are looked for at their provider; 0 turns the search off',
    ),
  BURSAR_DEPOSIT_SEARCH_EVERY_MS: milliseconds
    .default(15 * MINUTE_MS)
    .describe('time between two starts of that search'),
  BURSAR_DUNNING_DAYS: days
    .default(DUNNING_DAYS)
    .describe(
      'days after the first soft decline on which a merchant-initiated charge is retried; a tenant may have others',
    ),
  BURSAR_CHARGE_EXPIRES_MS: milliseconds
    .default(DAY_MS)
    .describe('time that a customer has to pay on the provider’s page'),
  BURSAR_MAX_OPEN_PUBLIC_CHARGES: atLeastOne
    .default(5_000)
    .describe(
      'open charges of one tenant that were made with public keys; beyond it such a charge gets 429',
    ),
};

const webhooks = {
  BURSAR_WEBHOOK_ALLOW_PRIVATE: flag(false)
    .describe('allows webhooks to private addresses, such as the machine of a developer')
    .meta({ live: 'refused' }),
  BURSAR_WEBHOOK_TIMEOUT_MS: milliseconds
    .max(10_000)
    .default(10_000)
    .describe('bound of one attempt to deliver'),
  BURSAR_WEBHOOK_RETRY_SECONDS: seconds
    .default(WEBHOOK_RETRY_SECONDS)
    .describe('pauses before each retry; after the last one the delivery is dead'),
  BURSAR_WEBHOOK_PARK_AFTER_DAYS: z.coerce
    .number()
    .positive()
    .max(365)
    .default(3)
    .describe('an endpoint that takes nothing is parked after this'),
  BURSAR_WEBHOOK_RETENTION_DAYS: whole
    .min(1)
    .max(36_500)
    .default(90)
    .describe(
      'webhook events are kept for this time with their deliveries; those with pending deliveries longer',
    ),
};

const tests = {
  BURSAR_FAILPOINT: z
    .string()
    .min(1)
    .optional()
    .describe('kills the process at a named point, for tests only')
    .meta({ live: 'refused' }),
};

/** The settings by the titles of their groups, in the order of docs/settings.md. */
export const SETTING_GROUPS = {
  'The API': api,
  'MongoDB and Temporal': engines,
  Keys: keys,
  Operators: operators,
  'Metrics and traces': observability,
  Providers: providerFields,
  Paystack: paystackVariables,
  'The sandbox bank': sandboxBankFields,
  'Instructions and their supervision': instructions,
  Cards: cards,
  'Charges, accounts and deposits': payments,
  Webhooks: webhooks,
  Tests: tests,
};

/** The environment variables of API, worker and command line. */
export const settings = z.object({
  ...api,
  ...engines,
  ...keys,
  ...operators,
  ...observability,
  ...providerFields,
  ...paystackVariables,
  ...sandboxBankFields,
  ...instructions,
  ...cards,
  ...payments,
  ...webhooks,
  ...tests,
});
