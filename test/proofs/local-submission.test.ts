import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { callsByQueue, submitsLocally } from '../support/local-submission.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { defaultPayloadConverter } from '@temporalio/common';
import type { TransferMicroBatchInput } from '../../src/capabilities/transfers/workflow-contract.js';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { transferMicroBatchWorkflowId } from '../../src/capabilities/transfers/workflow-starter.js';

/** A service whose bank pays a repeated instruction twice. */
let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({
    bank: { deduplicate: false, conclusiveAfterMs: 10_000 },
    // A slow answer is not a silent bank, and no workflow counts as stalled meanwhile.
    env: { SANDBOX_BANK_TIMEOUT_MS: '8000', BURSAR_STALL_TIMEOUT_MS: '10000' },
  });
  tenant = await service.tenant();
});

afterAll(async () => {
  await service?.close();
});

const queued = async (id: string) =>
  (await callsByQueue(service, transferWorkflowId(id))).length > 0;

const paidOnce = async (id: string) =>
  expect((await service.bank.journal(id)).map(({ kind }) => kind)).toEqual(['paid']);

test('a bank that answers at once is called from the workflow’s process, and the outcome is applied as usual', async () => {
  const id = await submitsLocally(service, tenant);
  const transfer = await tenant.waitFor(id, 'completed');
  expect(transfer.session_id).not.toBeNull();
  expect(await queued(id)).toBe(false);
  await paidOnce(id);
});

/** The ids of a micro-batch's transfers. Its workflow is named by the first; empty if there is no such micro-batch. */
async function inMicroBatchOf(id: string): Promise<string[]> {
  const { workflow } = service.deps.temporal.client;
  const history = await workflow
    .getHandle(transferMicroBatchWorkflowId(id))
    .fetchHistory()
    .catch(nothing);
  const input = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input;
  const [microBatch] = (input?.payloads ?? []).map((payload) =>
    defaultPayloadConverter.fromPayload<TransferMicroBatchInput>(payload),
  );
  return (microBatch?.transfers ?? []).map((transfer) => transfer.id);
}

const hasOwnWorkflow = (id: string) =>
  service.deps.temporal.client.workflow
    .getHandle(transferWorkflowId(id))
    .describe()
    .then(() => true, nothing);

const nothing = () => null;

/**
 * Sends eight transfers at once, the last to an account with this suffix, until that one was in a micro-batch in which no slow
 * answer left one open that the bank pays at once. Returns its id and those of the others.
 */
async function sentTogether(suffix: string): Promise<{ last: string; others: string[] }> {
  return eventually('some set out together', async () => {
    const suffixes = [...Array<string>(7).fill('789'), suffix];
    const ids = await Promise.all(suffixes.map((each) => tenant.send(each)));
    for (const id of ids) await tenant.waitFor(id, 'completed');
    const last = ids.at(-1) ?? '';
    for (const id of ids) {
      const microBatch = await inMicroBatchOf(id);
      if (!microBatch.includes(last)) continue;
      const others = microBatch.filter((one) => one !== last);
      const ending = suffix === '789' ? microBatch : others;
      const owned = await Promise.all(ending.map(hasOwnWorkflow));
      return owned.includes(true) ? undefined : { last, others };
    }
    return undefined;
  });
}

test('transfers accepted together are submitted by one workflow, each paid once, without workflows of their own', async () => {
  await submitsLocally(service, tenant);
  const { last, others } = await sentTogether('789');
  expect(others.length).toBeGreaterThan(0);
  for (const id of [last, ...others]) {
    await paidOnce(id);
    expect(await hasOwnWorkflow(id)).toBeNull();
  }
});

test('a transfer that does not end in its micro-batch gets a workflow of its own, and the others need none', async () => {
  await submitsLocally(service, tenant);
  // Only a callback reports this outcome: the answer to the request is not final.
  const { last, others } = await sentTogether('001');
  expect(await hasOwnWorkflow(last)).toBe(true);
  for (const id of others) expect(await hasOwnWorkflow(id)).toBeNull();
  for (const id of [last, ...others]) await paidOnce(id);
});

test('when a bank stops answering, calls go through its queue, and submitted transfers are verified and paid once', async () => {
  await submitsLocally(service, tenant);
  await service.bank.faults([{ call: 'submit', kind: 'drop_after', probability: 1 }]);
  const lost: string[] = [];
  // The first is submitted locally; during the bank's cooldown the other transfers go through the queue.
  for (let i = 0; i < 12; i += 1) {
    lost.push(await tenant.send());
    await sleep(100);
  }
  const byQueue: string[] = [];
  for (const id of lost) {
    await tenant.waitFor(id, 'completed');
    await paidOnce(id);
    // A transfer that ended in a micro-batch has no workflow of its own.
    byQueue.push(...(await callsByQueue(service, transferWorkflowId(id)).catch(() => [])));
  }
  expect(byQueue).toContain('submitTransfer');
  await service.bank.faults([]);
});

test('afterwards the ledger balances and agrees with the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
