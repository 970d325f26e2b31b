import { appendFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { Registry } from 'prom-client';
import { z } from 'zod';
import type { NewApiKey } from '../../../src/platform/api-keys/document.js';
import { createApiKeys } from '../../../src/platform/api-keys/store.js';
import { createApp } from '../../../src/composition/app.js';
import { createWriteProbe, type WriteProbe } from '../../../src/platform/database/write-probe.js';
import { ApiError } from '../../../src/shared/errors.js';
import { callerOf } from '../../../src/platform/http/context.js';
import { createHealth, type HealthCheck } from '../../../src/platform/http/health.js';
import { createLoad, type LoadLimits } from '../../../src/platform/http/load.js';
import type { Operation } from '../../../src/platform/http/operation.js';
import { sendData, sendList } from '../../../src/platform/http/respond.js';
import { route, type Route } from '../../../src/platform/http/routes.js';
import { withoutDeadline, type TimeLimits } from '../../../src/platform/http/time-limit.js';
import { createLog } from '../../../src/shared/log.js';
import { measureRequests } from '../../../src/platform/metrics/requests.js';
import { createRateLimits } from '../../../src/platform/rate-limits/store.js';
import { createTenants, type NewTenant } from '../../../src/platform/tenants/store.js';
import { openTestDatabase } from '../../support/database.js';
import { logFileOf, noteSecret } from '../../support/logs.js';

/** The pepper of the test application. */
const PEPPER = 'a pepper that only the tests use, long enough';
/** The pepper, as the list that stores take. */
export const PEPPERS = [{ id: 'p1', secret: PEPPER }];

/** Deviations from the default test application. */
export type TestAppOptions = {
  environment?: 'sandbox' | 'live';
  trustedProxies?: number;
  checks?: Record<string, HealthCheck>;
  /** Time that the results of the checks are kept. */
  healthKeptMs?: number;
  docsAllowance?: { rate: number; burst: number };
  load?: Partial<LoadLimits> & { measureEveryMs?: number };
  callbackAllowance?: { rate: number; burst: number };
  timeLimits?: TimeLimits;
  /** Duration of the slow routes. */
  slowMs?: number;
  writeProbe?: WriteProbe;
  clock?: () => Date;
};

/** Creates the real middleware stack on a database of its own, with a few routes instead of the capabilities. */
export async function createTestApp(options: TestAppOptions = {}) {
  const database = await openTestDatabase();
  const { db } = database;
  const lines: string[] = [];
  const logFile = logFileOf('test-app', database.name);
  noteSecret(PEPPER);
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      appendFileSync(logFile, chunk);
      done();
    },
  });
  const log = createLog({ level: 'debug', name: 'test', destination });
  const { environment = 'sandbox' } = options;
  const tenants = createTenants({ db, environment });
  const { clock } = options;
  const keyDeps = { db, peppers: PEPPERS, environment, tenants, log };
  const apiKeys = createApiKeys({ ...keyDeps, ...(clock && { clock }) });
  // The default of 50 ms would fail on a busy test machine.
  const rateLimits = createRateLimits({ db, log, answerWithinMs: 10_000 });
  const health = createHealth({
    checks: options.checks ?? {},
    log,
    keptMs: options.healthKeptMs ?? 0,
  });
  // High enough that only tests with lower limits reach them.
  const load = createLoad({ maxInFlight: 10_000, maxLagMs: 60_000, log, ...options.load });
  const registry = new Registry();
  const effects: unknown[] = [];
  const app = createApp({
    log,
    apiKeys,
    rateLimits,
    health,
    load,
    measure: measureRequests(registry, load),
    openApi: '{}',
    environment,
    providers: { serves: (capability) => capability !== 'billpay' },
    routes: thingRoutes(effects, options.slowMs ?? 300),
    writeProbe: options.writeProbe ?? createWriteProbe(database),
    ...(options.timeLimits && { timeLimits: options.timeLimits }),
    ...(options.docsAllowance && { docsAllowance: options.docsAllowance }),
    ...(options.callbackAllowance && { callbackAllowance: options.callbackAllowance }),
    trustedProxies: options.trustedProxies ?? 0,
  });

  return {
    app,
    server: app.callback(),
    database,
    apiKeys,
    tenants,
    health,
    load,
    registry,
    log,
    lines,
    /** The effects of the test routes, which refused input must leave empty. */
    effects,
    async createKey(key: Partial<Omit<NewApiKey, 'tenant'>> = {}, tenant: Partial<NewTenant> = {}) {
      const owner = await tenants.create({ name: 'Ada & Sons', plan: 'scale', ...tenant });
      const made = await apiKeys.create({
        tenantId: owner.id,
        level: 'write',
        kind: 'secret',
        ...key,
      });
      return { ...made, tenantId: owner.id };
    },
    async close() {
      load.stop();
      await apiKeys.idle();
      await rateLimits.idle();
      await database.close();
    },
  };
}

const thingBody = z.strictObject({
  amount_minor: z.int().min(1),
  account: z.string().regex(/^[0-9]{10}$/),
  metadata: z.record(z.string(), z.json()).optional(),
});
const listQuery = z.strictObject({
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

/** An operation of the tests: a test sets only the properties that it concerns. */
const make = <const O extends Partial<Operation>>(given: O) => ({
  tag: 'Things',
  summary: 'A route of the tests',
  method: 'get' as const,
  answer: { status: 200 as const, data: z.unknown() },
  ...given,
});

function thingRoutes(effects: unknown[], slowMs: number): Route[] {
  return [
    route(make({ id: 'listThings', path: '/things', query: listQuery }), (ctx, { query }) =>
      sendList(ctx, [{ id: 1 }], { ...query, total: 41 }),
    ),
    route(
      make({ id: 'createThing', method: 'post', path: '/things', body: thingBody }),
      (ctx, { body }) => {
        effects.push(body);
        sendData(ctx, 201, body);
      },
    ),
    route(
      make({ id: 'getThing', path: '/things/{id}', params: { id: z.string() } }),
      (ctx, input) => sendData(ctx, 200, { id: input.params.id, tenant: callerOf(ctx).tenant.id }),
    ),
    route(make({ id: 'importThings', method: 'post', path: '/things/import' }), (ctx) =>
      sendData(ctx, 200, {}),
    ),
    route(make({ id: 'getBestThing', path: '/things/best' }), (ctx) =>
      sendData(ctx, 200, { best: true }),
    ),
    route(
      make({
        id: 'lockThing',
        method: 'post',
        path: '/things/{id}/lock',
        params: { id: z.string() },
        onlyProtects: true,
      }),
      (ctx) => sendData(ctx, 201, {}),
    ),
    route(make({ id: 'set', method: 'put', path: '/settings', access: 'admin' }), (ctx) =>
      sendData(ctx, 200, {}),
    ),
    route(
      make({ id: 'tokenize', method: 'post', path: '/payment-tokens', access: 'public_key' }),
      (ctx) => sendData(ctx, 201, {}),
    ),
    route(make({ id: 'issue', path: '/cards', feature: 'cards' }), (ctx) => sendData(ctx, 200, {})),
    route(make({ id: 'payBill', path: '/billpay/payments', servedBy: 'billpay' }), (ctx) =>
      sendData(ctx, 200, {}),
    ),
    route(make({ id: 'slow', path: '/slow' }), async (ctx) => {
      effects.push('slow began');
      await new Promise((resolve) => setTimeout(resolve, slowMs));
      sendData(ctx, 200, { slow: true });
    }),
    route(make({ id: 'slowEffect', method: 'post', path: '/slow' }), async (ctx) => {
      await new Promise((resolve) => setTimeout(resolve, slowMs));
      effects.push('late');
      sendData(ctx, 201, { slow: true });
    }),
    route(make({ id: 'slowProvider', path: '/slow-provider' }), async (ctx) => {
      await withoutDeadline(ctx, new Promise((resolve) => setTimeout(resolve, slowMs)));
      sendData(ctx, 200, { slow: true });
    }),
    route(make({ id: 'broken', path: '/broken' }), () => {
      throw new Error('account 0123456789 of sk_sandbox_abcdef0123 is broken');
    }),
    route(make({ id: 'unserializable', path: '/unserializable' }), (ctx) =>
      sendData(ctx, 200, { amount: 1n }),
    ),
    route(make({ id: 'unfortunate', path: '/unfortunate' }), () => {
      throw new ApiError('insufficient_balance', { details: { required: 2, available: 1 } });
    }),
    route(
      make({
        id: 'callback',
        method: 'post',
        path: '/webhooks/payments/{provider}',
        access: 'provider',
        params: { provider: z.string() },
      }),
      (ctx) => {
        effects.push(ctx.state.body?.bytes.toString('latin1'));
        sendData(ctx, 200, {});
      },
    ),
    route(
      make({
        id: 'forgedCallback',
        method: 'post',
        path: '/webhooks/cards/{provider}',
        access: 'provider',
        params: { provider: z.string() },
      }),
      () => {
        throw new ApiError('invalid_signature');
      },
    ),
  ];
}
