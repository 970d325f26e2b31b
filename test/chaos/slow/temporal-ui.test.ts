import { randomUUID } from 'node:crypto';
import { transferWorkflowId } from '../../../src/capabilities/transfers/record.js';
import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';

/** Actions of an operator on a workflow in Temporal's UI. Without callbacks, only a workflow learns the outcome. */
let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({ bank: { callbacks: false, deduplicate: false } });
  tenant = await service.tenant();
});

afterAll(async () => {
  await service?.close();
});

const handleOf = (id: string) =>
  service.deps.temporal.client.workflow.getHandle(transferWorkflowId(id));

/** A transfer that is pending at the bank. */
async function waitingTransfer(): Promise<string> {
  const id = await tenant.send('006');
  await eventually('the bank has it', async () =>
    (await tenant.stored(id)).polls > 0 ? true : undefined,
  );
  return id;
}

const steps = async (id: string) => (await tenant.stored(id)).timeline.map(({ type }) => type);

async function expectPaidOnce(id: string) {
  await tenant.waitFor(id, 'completed');
  expect(await service.bank.journal(id)).toHaveLength(1);
}

test('a cancellation is noted on the timeline and ignored, and the transfer completes with the bank', async () => {
  const id = await waitingTransfer();
  await handleOf(id).cancel();
  await eventually('the note', async () => ((await steps(id)).includes('note') ? true : undefined));
  expect((await tenant.get(id)).status).toBe('processing');
  expect((await handleOf(id).describe()).status.name).toBe('RUNNING');
  expect(await service.bank.setTransferOutcome(id, 'paid')).toBe(200);
  await expectPaidOnce(id);
  expect((await steps(id)).filter((type) => type === 'note')).toHaveLength(1);
  await eventually('the workflow ends as if nothing had been', async () =>
    (await handleOf(id).describe()).status.name === 'COMPLETED' ? true : undefined,
  );
});

test('a workflow terminated while it waits is restarted by recovery, and the transfer completes with the bank', async () => {
  const id = await waitingTransfer();
  const { runId } = await handleOf(id).describe();
  await handleOf(id).terminate('by an operator');
  await eventually('another run of the workflow', async () => {
    const now = await handleOf(id).describe();
    return now.status.name === 'RUNNING' && now.runId !== runId ? true : undefined;
  });
  expect(await service.bank.setTransferOutcome(id, 'paid')).toBe(200);
  await expectPaidOnce(id);
  expect((await steps(id)).filter((type) => type === 'submitted')).toHaveLength(1);
});

test('a workflow reset to its first step verifies the transfer, and does not submit it again', async () => {
  const id = await waitingTransfer();
  const { client } = service.deps.temporal;
  const { runId } = await handleOf(id).describe();
  const history = await handleOf(id).fetchHistory();
  const firstTask = history.events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: transferWorkflowId(id), runId },
    workflowTaskFinishEventId: firstTask?.eventId ?? null,
    requestId: randomUUID(),
    reason: 'by an operator',
  });
  const { polls } = await tenant.stored(id);
  await eventually('it asks again', async () =>
    (await tenant.stored(id)).polls > polls ? true : undefined,
  );
  expect(await service.bank.setTransferOutcome(id, 'paid')).toBe(200);
  await expectPaidOnce(id);
  expect((await steps(id)).filter((type) => type === 'submitted')).toHaveLength(1);
});

test('a terminated workflow whose outcome is known at its restart completes the transfer by verification', async () => {
  const id = await waitingTransfer();
  await handleOf(id).terminate('by an operator');
  expect(await service.bank.setTransferOutcome(id, 'failed')).toBe(200);
  const transfer = await tenant.waitFor(id, 'failed');
  expect(transfer.failure?.code).toBe('provider_declined');
});

test('after the operator actions the ledger balances and agrees with the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
