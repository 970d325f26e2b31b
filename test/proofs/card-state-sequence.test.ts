import { createCallRates } from '../../src/core/providers/call-rates.js';
import { reconciledRecords, statementMatcher } from '../../src/composition/reconciliation.js';
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Card } from '../../src/capabilities/cards/record.js';
import { type CardStateType } from '../../src/capabilities/card-states/transitions.js';
import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { loadConfig } from '../../src/shared/config.js';
import { createDeps, type Deps } from '../../src/composition/deps.js';
import { noLocalSubmissions } from '../../src/core/instructions/local-submission-limiter.js';
import { startSandboxBank } from '../../sandbox-bank/server.js';
import { ensureNamespace } from '../../src/platform/temporal/namespace.js';
import { createWorkers } from '../../worker/worker.js';
import { bankAudit } from '../support/bank.js';
import { sharedEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { installQuietRuntime } from '../support/quiet-runtime.js';

/**
 * The workflow of a card with the real store, issuer and Temporal, and without a dispatcher, so that a missing signal is
 * not repaired.
 */
const folder = mkdtempSync(join(tmpdir(), 'bursar-control-'));
const secret = 'a secret of the sandbox bank';

let bank: Awaited<ReturnType<typeof startSandboxBank>>;
let deps: Deps;
let tenant: Awaited<ReturnType<Deps['tenants']['create']>>;
let stop: () => Promise<void>;

beforeAll(async () => {
  installQuietRuntime();
  bank = await startSandboxBank({
    port: 0,
    host: '127.0.0.1',
    dataDir: folder,
    secret,
    deduplicate: true,
    conclusiveAfterMs: 5_000,
  });
  const { mongodbUri, temporalAddress } = sharedEngines();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const config = loadConfig({
    BURSAR_ENV: 'sandbox',
    MONGODB_URI: mongodbUri,
    BURSAR_DATABASE: name,
    TEMPORAL_ADDRESS: temporalAddress,
    BURSAR_TASK_QUEUE: name,
    BURSAR_KEY_PEPPER: 'a pepper of the tests, which guards nothing',
    BURSAR_LOG_LEVEL: 'silent',
    BURSAR_POLL_MAX_MS: '2000',
    SANDBOX_BANK_URL: bank.url,
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
    SANDBOX_BANK_SECRET: secret,
    SANDBOX_BANK_TIMEOUT_MS: '10000',
  });
  deps = await createDeps(config, 'test');
  tenant = await deps.tenants.create({ name: 'A tenant of the tests', plan: 'enterprise' });
  const setUp = await Connection.connect({ address: temporalAddress });
  await ensureNamespace(setUp, config.temporal.namespace, config.environment);
  await setUp.close();
  const connection = await NativeConnection.connect({ address: temporalAddress });
  const workers = await createWorkers({
    connection,
    namespace: config.temporal.namespace,
    taskQueue: name,
    workflowBundle: { codePath: sharedEngines().bundle },
    providers: deps.providers.rateLimits,
    activities: {
      ...deps,
      callRates: createCallRates({ limits: deps.providers.rateLimits, workers: () => 1 }),
      reconciled: reconciledRecords(deps),
      matchStatement: statementMatcher(deps),
      localSubmissions: noLocalSubmissions,
    },
  });
  // The SDK's types do not have this option, so a test must notice an SDK that ignores it.
  const turnsMs = workers.map(({ options }) => options.isolateExecutionTimeoutMs);
  expect(turnsMs).toEqual(workers.map(() => 120_000));
  const running = Promise.all(workers.map((worker) => worker.run()));
  stop = async () => {
    for (const worker of workers) worker.shutdown();
    await running;
    await connection.close();
  };
});

afterAll(async () => {
  await stop?.();
  await bank?.close();
  await deps?.database.db.dropDatabase();
  await deps?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Node's channel of the requests that its HTTP servers receive. */
const REQUESTS = 'http.server.request.start';
const audit = () => bankAudit(bank.url);
/** A seed that hits the first of these calls at a probability of a half, and none of the next seven. */
const FIRST_ONLY = 'first 13';

const stored = async (card: string) => (await deps.cards.store.find(card)) as Card;
const operationOf = async (id: string) => (await deps.cards.operations.find(id)) as CardOperation;
const workflow = (card: string) => deps.temporal.client.workflow.getHandle(`card-state/${card}`);

async function issued(): Promise<string> {
  const wanted = { customer_id: 'customer-7', type: 'virtual', funding: 'prepaid' } as const;
  const body = { ...wanted, currency: 'NGN' } as const;
  const { resource } = await deps.cards.create(tenant, body, null);
  const id = String(resource);
  await eventually(`${id} is issued`, async () =>
    (await stored(id)).status === 'active' ? true : undefined,
  );
  return id;
}

async function requestState(card: string, type: CardStateType): Promise<string> {
  const { resource } = await deps.cardStates.change(
    await stored(card),
    type,
    { metadata: null },
    null,
  );
  return String(resource);
}

const ended = (id: string) =>
  eventually(`${id} has ended`, async () => {
    const operation = await operationOf(id);
    return ['completed', 'failed'].includes(operation.status) ? operation : undefined;
  });

/** Resolves when the issuer, which runs in this process, has the next request for a change of state. */
const nextChangeAtIssuer = () =>
  new Promise<void>((resolve) => {
    const onRequest = (message: unknown) => {
      if ((message as { request: IncomingMessage }).request.method !== 'PUT') return;
      unsubscribe(REQUESTS, onRequest);
      resolve();
    };
    subscribe(REQUESTS, onRequest);
  });

const atIssuer = async (card: string) => {
  const { provider, issued: face } = await stored(card);
  return deps.providers
    .issuer(provider)
    .readState(String(face?.issuer_card_id), AbortSignal.timeout(5_000));
};

test('a change that arrives while a run is about to end is handled by that run or by the next', async () => {
  const cards = await Promise.all(Array.from({ length: 4 }, issued));
  await Promise.all(
    cards.map(async (card) => {
      for (let round = 0; round < 8; round += 1) {
        const operation = await requestState(card, round % 2 === 0 ? 'lock' : 'unlock');
        expect(await ended(operation)).toMatchObject({
          status: 'completed',
          state_sequence: round + 1,
        });
      }
      await workflow(card).result();
    }),
  );
});

test('a superseded change is abandoned at once: the next one overtakes it, and its late arrival undoes nothing', async () => {
  const card = await issued();
  await ended(await requestState(card, 'lock'));
  const slow = { call: 'set_state', kind: 'slow', probability: 0.5, ms: 8_000 } as const;
  await audit().faults([slow], FIRST_ONLY);
  const arrived = nextChangeAtIssuer();
  const unlock = await requestState(card, 'unlock');
  await arrived;
  const lock = await requestState(card, 'lock');
  expect(await ended(lock)).toMatchObject({ status: 'completed', state_sequence: 3 });
  expect(await operationOf(unlock)).toMatchObject({
    status: 'failed',
    failure: { code: 'superseded' },
  });
  await audit().faults([]);
  // The slow request ends too, and is recorded as superseded.
  await eventually('the late order has its answer', async () =>
    (await operationOf(unlock)).timeline.some(({ type }) => type === 'provider_answer')
      ? true
      : undefined,
  );
  expect(await atIssuer(card)).toMatchObject({ state: 'locked', version: 3 });
  const journal = await audit().journal(card);
  expect(journal.map(({ kind }) => kind)).toEqual(['issued', 'card_locked']);
  expect((await stored(card)).status).toBe('locked');
});
