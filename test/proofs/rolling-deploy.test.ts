import { readFileSync } from 'node:fs';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { pollersOf, WORKFLOW_TASKS } from '../../src/platform/temporal/pollers.js';
import { sharedEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { startOwnWorker } from '../support/own-worker.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

/** Account suffix of transfers that stay pending until the test sets their outcome at the bank. */
const PENDING = '006';
const TRANSFERS = 3;
/** The type of the event of a workflow task that failed, as by a history that it cannot continue. */
const FAILED = 9;
/** The attempt at a workflow task after one that a busy machine did not end in time. */
const SECOND_ATTEMPT = 2;

let service: Service;
let tenant: TestTenant;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  service = await startService({ workers: 0, bank: { callbacks: false } });
  tenant = await service.tenant();
});

afterAll(async () => {
  for (const stop of stops) await stop();
  await service?.close();
});

/** The next version of the workflows: it waits before it submits, so it cannot continue a history of the present one. */
function nextVersion(): { code: string } {
  const code = readFileSync(sharedEngines().bundle, 'utf8');
  const parts = code.split('async function transfer(input) {');
  expect(parts).toHaveLength(2);
  const wait = '_temporalio_workflow__WEBPACK_IMPORTED_MODULE_0__.sleep';
  return { code: parts.join(`async function transfer(input) { await (0, ${wait})(1);`) };
}

async function makeCurrent(buildId: string): Promise<void> {
  const { connection, options } = service.deps.temporal.client;
  const deploymentName = String(service.env['BURSAR_TASK_QUEUE']);
  // The server learns the version from the first polls of its workers.
  await eventually(`${buildId} is the current version`, async () => {
    await connection.workflowService.setWorkerDeploymentCurrentVersion({
      namespace: options.namespace,
      deploymentName,
      buildId,
      identity: 'a test',
    });
    return true;
  });
}

async function deploy(buildId: string, workflowBundle?: { code: string }): Promise<void> {
  const deployment = { name: String(service.env['BURSAR_TASK_QUEUE']), buildId };
  stops.push(
    await startOwnWorker(service, { deployment, ...(workflowBundle && { workflowBundle }) }),
  );
  await makeCurrent(buildId);
}

const submitted = async (id: string) =>
  eventually(`${id} is pending at the bank`, async () =>
    (await tenant.stored(id)).acknowledged_at ? true : undefined,
  );

/** Transfers whose workflows are open. */
async function openTransfers(): Promise<string[]> {
  const ids = await Promise.all(Array.from({ length: TRANSFERS }, () => tenant.send(PENDING)));
  for (const id of ids) await submitted(id);
  return ids;
}

const handleOf = (id: string) =>
  service.deps.temporal.client.workflow.getHandle(transferWorkflowId(id));

async function versionOf(id: string): Promise<string | undefined> {
  const { raw } = await handleOf(id).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
}

/** Workflow tasks that failed, or did not end in two attempts: histories have no event of a failure of later attempts. */
async function failedTasks(id: string): Promise<number> {
  const { events } = await handleOf(id).fetchHistory();
  return (events ?? []).filter(
    ({ eventType, workflowTaskScheduledEventAttributes: scheduled }) =>
      Number(eventType) === FAILED || Number(scheduled?.attempt) > SECOND_ATTEMPT,
  ).length;
}

test('during a rolling deploy of an incompatible version, open transfers of both versions end, and no workflow task fails', async () => {
  await deploy('one');
  const before = await openTransfers();
  await deploy('two', nextVersion());
  const after = await openTransfers();
  for (const [ids, version] of [
    [before, 'one'],
    [after, 'two'],
  ] as const) {
    for (const id of ids) expect([id, await versionOf(id)]).toEqual([id, version]);
  }

  for (const id of [...before, ...after]) await service.bank.decideTransfer(id, 'paid');
  for (const id of [...before, ...after]) {
    await tenant.waitFor(id, 'completed');
    await handleOf(id).result();
    expect(await failedTasks(id)).toBe(0);
    expect(await service.bank.journal(id)).toHaveLength(1);
  }
  expect(await service.problems()).toEqual([]);
});

test('a worker of the current version takes new transfers when the earlier version has stopped, and is counted as a process', async () => {
  await stops.shift()?.();
  await tenant.waitFor(await tenant.send(), 'completed');
  const { client } = service.deps.temporal;
  const queue = String(service.env['BURSAR_TASK_QUEUE']);
  const { alive } = await pollersOf(client, client.options.namespace, queue, WORKFLOW_TASKS);
  expect(alive).toBeGreaterThan(0);
});
