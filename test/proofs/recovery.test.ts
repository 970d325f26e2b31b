import { defaultPayloadConverter } from '@temporalio/common';
import type { RecordRef } from '../../src/core/instructions/workflow-contract.js';
import type { TransferMicroBatchInput } from '../../src/capabilities/transfers/workflow-contract.js';
import { supervisedRecords } from '../../src/composition/supervision.js';
import { createLog } from '../../src/shared/log.js';
import { mapWithConcurrency } from '../../src/shared/concurrency.js';
import { createDispatcher } from '../../worker/dispatcher.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { transferBody } from '../support/tenant.js';

const OPEN = 300;
const DISPATCHERS = 5;
/** Records that a dispatcher claims at once. */
const PAGE = 200;

let service: Service;
beforeAll(async () => {
  // A started transfer is not started again before a worker runs, however slow the machine.
  service = await startService({ workers: 0, env: { BURSAR_STALL_TIMEOUT_MS: '3600000' } });
});
afterAll(async () => {
  await service?.close();
});

/** The transfers of each workflow that was started: a micro-batch, or the transfer that its dispatcher claimed alone. */
async function startedWorkflows(): Promise<string[][]> {
  const { workflow } = service.deps.temporal.client;
  const query = `TaskQueue = '${service.env['BURSAR_TASK_QUEUE']}' AND WorkflowType IN ('transferMicroBatch', 'transfer')`;
  const found: string[][] = [];
  for await (const { workflowId, runId } of workflow.list({ query })) {
    const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
    const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const [started] = input.map((payload) =>
      defaultPayloadConverter.fromPayload<TransferMicroBatchInput | RecordRef>(payload),
    );
    if (!started) throw new Error(`${workflowId} has no input`);
    found.push(('transfers' in started ? started.transfers : [started]).map(({ id }) => id));
  }
  return found;
}

test('transfers that were accepted while Temporal was away are started once each, by many dispatchers, in full micro-batches', async () => {
  const tenant = await service.tenant();
  const away = `127.0.0.1:${await service.deadPort()}`;
  const api = await service.newApi({ TEMPORAL_ADDRESS: away });
  await api.start();
  const client = tenant.at(api.url);
  const ids = await mapWithConcurrency(20, Array.from({ length: OPEN }), async () => {
    const { status, body } = await client.transfer(transferBody());
    expect(status).toBe(201);
    return body.data.id;
  });
  expect(await startedWorkflows()).toEqual([]);
  const { deps } = service;
  const warnings: string[] = [];
  const destination = { write: (line: string) => void warnings.push(line) };
  const log = createLog({ level: 'warn', name: 'dispatchers', destination });
  const loops = Array.from({ length: DISPATCHERS }, () =>
    createDispatcher(supervisedRecords(deps), log),
  );
  const running = Promise.all(loops.map((loop) => loop.run()));
  const started = await eventually('each transfer was started', async () => {
    const found = await startedWorkflows();
    return found.flat().length >= OPEN ? found : undefined;
  });
  for (const loop of loops) loop.stop();
  await running;
  expect(new Set(started.flat())).toEqual(new Set(ids));
  // A start that Temporal has not answered in time may have been taken, and its page is started again: on a busy machine.
  const unanswered = warnings.filter((line) => line.includes('dispatch failed'));
  expect(started.flat().length - OPEN).toBeLessThanOrEqual(PAGE * unanswered.length);
  expect(started.length).toBeLessThan(OPEN / 10);
  await service.newWorker().start();
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
