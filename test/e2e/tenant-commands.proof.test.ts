import { createDeps, type Deps } from '../../src/composition/deps.js';
import { openApi } from '../../src/composition/operations.js';
import { ACROSS_TENANTS } from '../../src/platform/database/tenant-filters.js';
import { loadConfig } from '../../src/shared/config.js';
import { bulkClient } from '../support/bulk.js';
import { cardClient } from '../support/cards.js';
import { documented, pathWith, type Document } from '../support/documented.js';
import { eventually } from '../support/eventually.js';
import { bodyFor, fixtureOf, fixtures } from '../support/fixtures.js';
import { issuerClient } from '../support/issuer.js';
import { startOwnApi } from '../support/own-api.js';
import { startOwnWorker } from '../support/own-worker.js';
import { paymentClient } from '../support/payments.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startService, type Service } from '../support/service.js';
import { watchTenantCommands, type TenantCommand } from '../support/tenant-commands.js';
import { transferBody, type TestTenant } from '../support/tenant.js';

/** An API or a worker of this process, with the commands that it has sent. */
type Watched = { deps: Deps; commands: TenantCommand[] };

let service: Service;
let api: Watched;
let worker: Watched;
let receiver: Receiver;
let tenant: TestTenant;
const stops: (() => Promise<unknown>)[] = [];

async function watched(name: string): Promise<Watched> {
  const uri = new URL(String(service.env['MONGODB_URI']));
  uri.searchParams.set('monitorCommands', 'true');
  const env = { ...service.env, MONGODB_URI: uri.href, BURSAR_LOG_LEVEL: 'silent' };
  const deps = await createDeps(loadConfig(env), name);
  const { client, db } = deps.database;
  return { deps, commands: watchTenantCommands(client, db.databaseName) };
}

beforeAll(async () => {
  service = await startService({
    workers: 0,
    env: {
      BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
      BURSAR_WEBHOOK_TIMEOUT_MS: '10000',
      BURSAR_WEBHOOK_RETRY_SECONDS: '0.2,0.4,0.6',
    },
  });
  // An API and a worker of this process take the place of the service's own.
  await service.api.kill();
  api = await watched('api');
  worker = await watched('worker');
  stops.push(await startOwnApi(api.deps, service.api.port));
  stops.push(await startOwnWorker({ deps: worker.deps, env: service.env }));
  receiver = await startReceiver();
  tenant = await service.tenant();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
});

afterAll(async () => {
  for (const stop of stops) await stop();
  await api?.deps.close();
  await worker?.deps.close();
  await receiver?.close();
  await service?.close();
});

/** The commands that name neither a tenant nor a reason. */
const unexplained = ({ commands }: Watched) =>
  commands
    .filter(({ namesTenant, comment }) => !namesTenant && !ACROSS_TENANTS.includes(String(comment)))
    .map(({ shown, command }) => `${shown}: ${JSON.stringify(command, bigints)}`);
const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);

/** The commands over all tenants, each once. */
const acrossTenants = ({ commands }: Watched) =>
  [...new Set(commands.filter((one) => !one.namesTenant).map(({ shown }) => shown))].toSorted();

const lookUps = (...collections: string[]) =>
  collections.map((name) => `find ${name} (all tenants: look-up)`);
/** Counted in the background of requests; see createIntakeLimit. */
const INTAKE = 'aggregate transfers (all tenants: loop)';

test('each operation of the API names the tenant in each of its commands', async () => {
  const ids: Record<string, string> = {};
  for (const operation of documented(openApi() as unknown as Document)) {
    // Messages of providers are the subject of the next test.
    if (operation.level === null) continue;
    for (const resource of operation.resources) {
      ids[resource] ??= await fixtureOf(fixtures, resource, operation.id)(tenant, ids, service);
    }
    const body = await bodyFor(operation.body, tenant, service);
    const path = pathWith(operation, (resource) => ids[resource] ?? '');
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const { status } = await tenant.call(operation.method, path, sent, {
      ...(operation.takesIdempotencyKey && { key: operation.id }),
      headers: { prefer: 'wait=1' },
    });
    expect([operation.id, status]).not.toEqual([operation.id, 500]);
  }
  expect(api.commands.length).toBeGreaterThan(100);
  expect(unexplained(api)).toEqual([]);
  // The bank and the issuer report on the records that the walk has created.
  const allowed = [INTAKE, ...lookUps('transfers', 'cards', 'card_operations', 'charges')];
  expect(allowed).toEqual(expect.arrayContaining(acrossTenants(api)));
});

test('flows to their end name the tenant in each command, but for loops and look-ups', async () => {
  // A transfer with an idempotency key, its repeat, an outcome that is found by polls, and a retried webhook.
  receiver.behave((response) => response.writeHead(receiver.received.length % 3 ? 500 : 204).end());
  const body = transferBody();
  const sent = await tenant.transfer(body, { key: 'k', headers: { prefer: 'wait=10' } });
  const repeated = await tenant.transfer(body, { key: 'k' });
  expect([repeated.status, repeated.body.data.id]).toEqual([201, sent.body.data.id]);
  await tenant.waitFor(await tenant.send('004'), 'completed');
  const bulk = await bulkClient(tenant).send([transferBody(), transferBody('002')]);
  // A card with funding, a payment by it and a change of its state.
  const cards = cardClient(tenant);
  const card = await cards.issue();
  const funded = await cards.act(card.id, 'fund', { amount_minor: 50_000 });
  await cards.waitForOperation(card.id, funded.body.data.id, 'completed');
  const issuer = issuerClient(service);
  const { token, approved } = await issuer.pay(card.id);
  expect(approved).toBe(true);
  await issuer.end(token, 'cleared', 4_000);
  const locked = await cards.act(card.id, 'lock');
  await cards.waitForOperation(card.id, locked.body.data.id, 'completed');
  // A charge, and its refund.
  const payments = paymentClient(tenant);
  const charge = await payments.paid();
  const refund = await payments.refund({ charge_reference: charge.reference, amount_minor: 1_000 });
  await eventually('the refund has ended', async () => {
    const { status } = await payments.getRefund(refund.body.data.reference);
    return status === 'completed' ? true : undefined;
  });
  // A replay of one of the issuer's events.
  const events = await tenant.call('GET', `/webhooks/cards/events/${card.id}`, undefined);
  const [event] = events.body.data as unknown as { id: string }[];
  await tenant.call('POST', `/webhooks/cards/events/${event?.id}/replay`, undefined, {
    headers: { prefer: 'wait=10' },
  });
  expect(bulk.status).toBe(201);
  await eventually('the transfers have ended', async () => {
    const open = { tenant_id: tenant.id, status: { $in: ['pending', 'processing'] } };
    const found = await service.deps.database.db.collection('transfers').countDocuments(open);
    return found === 0 ? true : undefined;
  });
  // The loops of a worker that this test's worker does not have.
  await worker.deps.webhooks.recover(100, () => undefined);
  await worker.deps.webhooks.removeOld('');
  await eventually('a webhook was retried and delivered', async () => {
    const query = { tenantId: tenant.id, dead: false, limit: 100 };
    const found = await service.deps.webhooks.deliveries.list(query);
    const retried = found.find((one) => one.status === 'delivered' && one.attempt_count > 1);
    return retried ? true : undefined;
  });

  expect(unexplained(api)).toEqual([]);
  expect(unexplained(worker)).toEqual([]);
  const messages = lookUps(
    'transfers',
    'cards',
    'card_operations',
    'card_authorizations',
    'charges',
    'refunds',
  );
  expect([INTAKE, ...messages]).toEqual(expect.arrayContaining(acrossTenants(api)));
  // Its workflows name tenants: what is left are its loops, and the events of providers that it applies.
  const rest = acrossTenants(worker).filter((shown) => !shown.endsWith('(all tenants: loop)'));
  expect(messages).toEqual(expect.arrayContaining(rest));
});
