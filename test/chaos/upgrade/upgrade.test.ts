import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { workflowIds } from '../../../src/composition/workflow-ids.js';
import { compiled, packageRoot } from '../../../src/shared/package-root.js';
import { cardClient } from '../../support/cards.js';
import { payerOfEachKind, type Payment } from '../../support/each-kind.js';
import { eventually } from '../../support/eventually.js';
import { noteSecret } from '../../support/logs.js';
import { answers, type ManagedProcess } from '../../support/processes.js';
import { startService, type Service } from '../../support/service.js';
import { apiClient, transferBody, untilTaken, type TestTenant } from '../../support/tenant.js';
import { startLoad, type Load } from '../support/load.js';
import { startCardLoad } from './card-load.js';

/** Paid at once, by callback, with a lost answer, after a temporary refusal. */
const SUFFIXES = ['789', '001', '004', '010'];
/** Stays pending until the test decides it at the bank. */
const PENDING = '006';
const PER_SECOND = 2;
const PHASE_MS = 4_000;
/** The cause that Temporal notes if a signal arrives while a worker decides: the task is decided again, and nothing is wrong. */
const UNHANDLED_COMMAND = 1;

const older = process.env['BURSAR_OLDER_DIST'] ?? '';
if (older === '') throw new Error('there is no older build: run npm run drill:upgrade');

type OlderTenant = { id: string; key: string; at(url: string): ReturnType<typeof apiClient> };

const urls: string[] = [];
let service: Service;
let tenant: OlderTenant;
let load: Load;
/** Transfers that are open from one phase to a later one. */
const open: string[] = [];
/** Payments of the other kinds. */
const payments: Payment[] = [];
let payEachKind: () => Promise<Payment[]>;
let cardLoad: ReturnType<typeof startCardLoad>;

/** A tenant as the older build makes it, in a database that the older build has migrated. */
function createOlderTenant(env: Record<string, string>): OlderTenant {
  const script = join(packageRoot, 'test', 'chaos', 'upgrade', 'older-tenant.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    env: { ...process.env, ...env, BURSAR_OLDER_DIST: older, BURSAR_LOG_LEVEL: 'silent' },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const { id, key } = JSON.parse(stdout) as { id: string; key: string };
  noteSecret(key);
  return { id, key, at: (url) => apiClient(url, key) };
}

/** Sends a transfer that stays open, and waits until the bank has it. */
async function leaveOpen(url: string): Promise<void> {
  const sent = transferBody(PENDING);
  const { status, body } = await untilTaken((under) => tenant.at(url).transfer(sent, under));
  expect(status).toBe(201);
  const { id } = body.data;
  await eventually(`${id} is pending at the bank`, async () =>
    (await stored(id))?.acknowledged_at ? true : undefined,
  );
  open.push(id);
}

const transfers = () => service.deps.database.db.collection<Transfer>('transfers');
const stored = (id: string) => transfers().findOne({ _id: id, tenant_id: tenant.id });

/** A client whose calls go to each API in turn, of both builds while both run. */
function clientInTurn() {
  let turn = 0;
  const next = () => tenant.at(String(urls[(turn += 1) % urls.length]));
  const { id } = tenant;
  const call: TestTenant['call'] = (...request) => next().call(...request);
  return { id, call, client: next().client };
}

/** True if the record of each payment says that it was carried out. */
async function areMade(made: readonly Payment[]): Promise<boolean> {
  const { db } = service.deps.database;
  const outcomes = made.map(async ({ collection, id }) => {
    const outcome = collection === 'deposits' ? { state: 'credited' } : { status: 'completed' };
    return db.collection<{ _id: string }>(collection).countDocuments({ _id: id, ...outcome });
  });
  return (await Promise.all(outcomes)).every((count) => count === 1);
}

/**
 * The load goes on for a while, and more of it is accepted and completed. A transfer is left open at each API. A payment of each
 * other kind is made and ends; another one is in flight when the phase is over. Payments with cards are approved, and those of
 * earlier phases end.
 */
async function phase(): Promise<void> {
  const made = await payEachKind();
  const before = load.accepted();
  const completed = () => transfers().countDocuments({ tenant_id: tenant.id, status: 'completed' });
  const ended = await completed();
  for (const url of urls) await leaveOpen(url);
  await cardLoad.phase();
  await sleep(PHASE_MS);
  await eventually('transfers are accepted and completed', async () =>
    load.accepted() > before + PER_SECOND && (await completed()) > ended + PER_SECOND
      ? true
      : undefined,
  );
  await eventually('a payment of each kind has been made', async () =>
    (await areMade(made)) ? true : undefined,
  );
  payments.push(...made, ...(await payEachKind()));
}

/** A card whose payments the wallet pays, and one with a balance of its own. */
async function issueCards(): Promise<string[]> {
  const cards = cardClient(clientInTurn());
  const [jit, prepaid] = await Promise.all([cards.issue({ funding: 'jit' }), cards.issue()]);
  const order = { amount_minor: 1_000_000, transaction_reference: 'for-its-payments' };
  const { body } = await cards.act(prepaid.id, 'fund', order);
  await cards.waitForOperation(prepaid.id, body.data.id, 'completed');
  return [jit.id, prepaid.id];
}

/** An API of the present build, not yet started. */
function presentApi(port: number): { url: string; api: ManagedProcess } {
  const url = `http://127.0.0.1:${port}`;
  const env = { ...service.env, PORT: String(port) };
  return {
    url,
    api: service.process(compiled('src', 'main.js'), env, answers(`${url}/health/ready`)),
  };
}

/** API and worker of the present build. */
async function startPresent(): Promise<{ url: string; processes: ManagedProcess[] }> {
  const { url, api } = presentApi(await service.deadPort());
  const worker = service.process(compiled('worker', 'main.js'), service.env, (output) =>
    output.includes('worker is running'),
  );
  const processes = [api, worker];
  await Promise.all(processes.map((each) => each.start()));
  return { url, processes };
}

/** Ends processes of one build. Its APIs get no further requests. */
async function stopAll(url: string, processes: ManagedProcess[]): Promise<void> {
  urls.splice(urls.indexOf(url), 1);
  for (const each of processes) {
    const { code } = await each.stop();
    // An older build keeps its faults, such as an exit with 1 while a call to Temporal is being retried.
    if (each === service.api || each === service.worker) continue;
    // Its last lines say why it has not ended as it should.
    expect({ code, end: code === 0 ? '' : each.output().slice(-2_000) }).toEqual({
      code: 0,
      end: '',
    });
  }
}

beforeAll(async () => {
  service = await startService({
    dist: older,
    // The older build runs under load before the stores of this process migrate the database.
    async beforeStores(env, api) {
      tenant = createOlderTenant(env);
      urls.push(api.url);
      // The load calls nothing else of a tenant.
      const loaded = tenant as unknown as TestTenant;
      load = startLoad({ tenants: [loaded], urls, perSecond: PER_SECOND, suffixes: SUFFIXES });
      await sleep(PHASE_MS);
    },
  });
  expect(load.accepted()).toBeGreaterThan(PER_SECOND);
}, 300_000);

afterAll(async () => {
  load?.end();
  cardLoad?.end();
  await service?.close();
});

test('an upgrade and a roll-back under load lose nothing, pay nothing twice, and fail no workflow task', async () => {
  const [oldApi, oldWorker] = [service.api, service.worker];
  // The database is migrated, and the older release goes on.
  payEachKind = await payerOfEachKind(service, clientInTurn());
  cardLoad = startCardLoad(service, tenant.id, await issueCards());
  await phase();
  const first = await startPresent();
  urls.push(first.url);
  await phase();
  await stopAll(oldApi.url, [oldApi, oldWorker]);
  // The bank's messages go to the address of the first API.
  const { url, api } = presentApi(oldApi.port);
  await api.start();
  urls.push(url);
  await phase();
  await stopAll(url, [api]);
  // Back: the older release starts on the migrated database, beside the present one and then alone.
  await Promise.all([oldApi.start(), oldWorker.start()]);
  urls.push(oldApi.url);
  await phase();
  await stopAll(first.url, first.processes);
  await phase();

  // Half of the open transfers end under the older release, the others after another upgrade.
  const [half, rest] = [open.filter((_, i) => i % 2 === 0), open.filter((_, i) => i % 2 === 1)];
  for (const id of half) await service.bank.decideTransfer(id, 'paid');
  await eventually('the transfers of all phases end', async () =>
    (await Promise.all(half.map(stored))).every((one) => one?.status === 'completed')
      ? true
      : undefined,
  );
  // The issuer's reports go to the address of the first API, too.
  expect(await cardLoad.stop()).toEqual([]);
  const second = await startPresent();
  urls.push(second.url);
  await stopAll(oldApi.url, [oldApi, oldWorker]);
  // Some of the last payments end only by the bank's message.
  await presentApi(oldApi.port).api.start();
  for (const id of rest) await service.bank.decideTransfer(id, 'paid');
  const requests = await load.stop();
  await service.allEnded();

  const accepted = requests.map(({ answer }) => answer?.body.data.id ?? '');
  expect(requests.map(({ answer }) => answer?.status)).toEqual(requests.map(() => 201));
  const records = await transfers().find({ tenant_id: tenant.id }).toArray();
  expect(records.map(({ _id }) => _id).toSorted()).toEqual([...accepted, ...open].toSorted());
  expect(records.filter(({ status }) => status !== 'completed')).toEqual([]);
  await eventually('the deposits that were in flight are credited', async () =>
    (await areMade(payments)) ? true : undefined,
  );
  const journal = await service.bank.journal();
  const paid = journal.filter(
    ({ kind, reference }) => kind === 'paid' && reference.startsWith('trf_'),
  );
  expect(paid.map(({ reference }) => reference).toSorted()).toEqual(
    [...accepted, ...open].toSorted(),
  );
  for (const { reference } of payments) {
    const effects = journal.filter((effect) => effect.reference === reference);
    expect([reference, effects.length]).toEqual([reference, 1]);
  }
  const ofTransfers = open.map((id) => ({ collection: 'transfers', id }));
  for (const { collection, id } of [...ofTransfers, ...payments]) {
    expect([id, await failedTasks(collection, id)]).toEqual([id, []]);
  }
  expect(await service.problems()).toEqual([]);
}, 600_000);

/** The failures of workflow tasks, such as a history that the other build cannot continue. */
async function failedTasks(collection: string, id: string): Promise<string[]> {
  const { database, temporal } = service.deps;
  const record = await database.db.collection<{ _id: string }>(collection).findOne({ _id: id });
  const workflowId = record && workflowIds[collection]?.(record);
  if (!workflowId) throw new Error(`${id} has no workflow`);
  const { events } = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed && Number(failed.cause) !== UNHANDLED_COMMAND
      ? [`${failed.cause} ${failed.failure?.message}`]
      : [],
  );
}
