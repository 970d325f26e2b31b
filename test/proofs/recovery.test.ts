import { defaultPayloadConverter } from '@temporalio/common';
import type { RecordRef } from '../../src/core/instructions/workflow-contract.js';
import type { TransferMicroBatchInput } from '../../src/capabilities/transfers/workflow-contract.js';
import { supervisedRecords } from '../../src/composition/supervision.js';
import type { Supervised, SupervisedRecords } from '../../src/core/supervision/supervision.js';
import { createLog } from '../../src/shared/log.js';
import { mapWithConcurrency } from '../../src/shared/concurrency.js';
import { createDispatcher } from '../../worker/dispatcher.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, untilTaken, type TestTenant } from '../support/tenant.js';

const OPEN = 300;
/** Transfers that every dispatcher starts. */
const UNCLAIMED = 60;
const DISPATCHERS = 5;
/** Records that a dispatcher claims at once. */
const PAGE = 200;

let service: Service;
let tenant: TestTenant;
beforeAll(async () => {
  service = await startService({
    workers: 0,
    // A second submission would be a second payment.
    bank: { deduplicate: false },
    // A started transfer is not started again before a worker runs, however slow the machine.
    env: { BURSAR_STALL_TIMEOUT_MS: '3600000' },
  });
  tenant = await service.tenant();
});
afterAll(async () => {
  await service?.close();
});

/** Transfers that the API has accepted and could not start. */
async function acceptedWhileAway(count: number): Promise<string[]> {
  const api = await service.newApi({ TEMPORAL_ADDRESS: `127.0.0.1:${await service.deadPort()}` });
  await api.start();
  const client = tenant.at(api.url);
  const ids = await mapWithConcurrency(20, Array.from({ length: count }), async () => {
    const body = transferBody();
    const reply = await untilTaken((under) => client.transfer(body, under));
    expect(reply.status).toBe(201);
    return reply.body.data.id;
  });
  expect(await startsOf(ids)).toEqual([]);
  await api.stop();
  return ids;
}

/** Runs dispatchers until `isDone`. Returns the starts of these transfers, and what the dispatchers have warned of. */
async function dispatched(
  ids: readonly string[],
  dispatchers: readonly Readonly<Record<string, SupervisedRecords>>[],
  isDone: (starts: string[][]) => boolean,
): Promise<{ starts: string[][]; warnings: string[] }> {
  const warnings: string[] = [];
  const destination = { write: (line: string) => void warnings.push(line) };
  const log = createLog({ level: 'warn', name: 'dispatchers', destination });
  const loops = dispatchers.map((records) => createDispatcher(records, log));
  const running = Promise.all(loops.map((loop) => loop.run()));
  try {
    const starts = await eventually('each transfer was started', async () => {
      const found = await startsOf(ids);
      return isDone(found) ? found : undefined;
    });
    return { starts, warnings };
  } finally {
    for (const loop of loops) loop.stop();
    await running;
  }
}

/** A worker ends all of them, each once. */
async function allPaidOnce(): Promise<void> {
  const worker = service.newWorker();
  await worker.start();
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
  await worker.stop();
}

/** The transfers that a run was started with, by its id: its history is read once. */
const startedWith = new Map<string, string[]>();

/** The transfers among these of each workflow that was started: a micro-batch, or one that its dispatcher claimed alone. */
async function startsOf(ids: readonly string[]): Promise<string[][]> {
  const { workflow } = service.deps.temporal.client;
  const query = `TaskQueue = '${service.env['BURSAR_TASK_QUEUE']}' AND WorkflowType IN ('transferMicroBatch', 'transfer')`;
  const found: string[][] = [];
  for await (const { workflowId, runId } of workflow.list({ query })) {
    const all = startedWith.get(runId) ?? (await inputOf(workflowId, runId));
    startedWith.set(runId, all);
    const own = all.filter((id) => ids.includes(id));
    if (own.length > 0) found.push(own);
  }
  return found;
}

async function inputOf(workflowId: string, runId: string): Promise<string[]> {
  const { workflow } = service.deps.temporal.client;
  const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
  const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const [started] = input.map((payload) =>
    defaultPayloadConverter.fromPayload<TransferMicroBatchInput | RecordRef>(payload),
  );
  if (!started) throw new Error(`${workflowId} has no input`);
  return ('transfers' in started ? started.transfers : [started]).map(({ id }) => id);
}

test('transfers that were accepted while Temporal was away are started once each, by many dispatchers, in full micro-batches', async () => {
  const ids = await acceptedWhileAway(OPEN);
  const dispatchers = Array.from({ length: DISPATCHERS }, () => supervisedRecords(service.deps));
  const isDone = (starts: string[][]) => starts.flat().length >= OPEN;
  const { starts, warnings } = await dispatched(ids, dispatchers, isDone);
  expect(new Set(starts.flat())).toEqual(new Set(ids));
  // A start that Temporal has not answered in time may have been taken, and its page is started again: on a busy machine.
  const unanswered = warnings.filter((line) => line.includes('dispatch failed'));
  expect(starts.flat().length - OPEN).toBeLessThanOrEqual(PAGE * unanswered.length);
  expect(starts.length).toBeLessThan(OPEN / 10);
  await allPaidOnce();
});

/**
 * The transfers as dispatchers without claims take them: each has read all of them before any has started one. Each begins at another
 * transfer, so that its micro-batches differ from those of the others.
 */
async function withoutClaims(
  ids: readonly string[],
): Promise<Readonly<Record<string, SupervisedRecords>>[]> {
  const { transfers } = supervisedRecords(service.deps);
  if (!transfers) throw new Error('there are no supervised transfers');
  const due = await service.deps.database.db
    .collection<Supervised>('transfers')
    .find({ _id: { $in: [...ids] } })
    .toArray();
  return Array.from({ length: DISPATCHERS }, (_, i) => {
    const first = i * 7;
    const left = [[...due.slice(first), ...due.slice(0, first)]];
    const claimDue = () => Promise.resolve({ claimed: left.pop() ?? [], more: false });
    const store = { ...transfers.store, claimDue, releaseClaim: () => Promise.resolve() };
    return { transfers: { ...transfers, store } };
  });
}

test('without claims, many dispatchers start each waiting transfer several times, and none is lost or paid twice', async () => {
  const ids = await acceptedWhileAway(UNCLAIMED);
  const isDone = (starts: string[][]) =>
    ids.every((id) => starts.filter((group) => group.includes(id)).length > 1);
  const { starts } = await dispatched(ids, await withoutClaims(ids), isDone);
  expect(starts.length).toBeGreaterThan(DISPATCHERS);
  await allPaidOnce();
  for (const id of ids) expect((await tenant.get(id)).status).toBe('completed');
});
