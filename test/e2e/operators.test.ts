import { transferWorkflowId } from '../../src/transfers/transfer.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { ORDER_TOTAL_MINOR, type TestTenant } from '../support/tenant.js';

const BALANCE_MINOR = 1_000_000;
/** Ends in these digits: stays pending until the bank is told what to do. */
const PENDING = '006';

let service: Service;
beforeAll(async () => {
  service = await startService({ env: { BURSAR_ATTENTION_AFTER_MS: '3000' } });
});
afterAll(async () => {
  await service?.close();
});

const tenantWith = () => service.tenant({ balanceMinor: BALANCE_MINOR });
const workflow = (id: string) =>
  service.deps.temporal.client.workflow.getHandle(transferWorkflowId(id));

/** A transfer that the bank has taken and does not decide. */
async function stuck(tenant: TestTenant): Promise<string> {
  const id = await tenant.send(PENDING);
  await eventually(`the bank knows ${id}`, async () =>
    (await tenant.stored(id)).timeline.some(({ type }) => type === 'provider_answer')
      ? true
      : undefined,
  );
  return id;
}

async function act(
  tenant: TestTenant,
  id: string,
  kind: 'retry' | 'verify' | 'complete' | 'fail',
  more: object = {},
) {
  const payload = {
    actor: 'ada',
    reason: 'a customer asks',
    session_id: null,
    force: false,
    ...more,
  };
  return service.deps.starter.command(await tenant.stored(id), kind, payload);
}

const operatorLines = async (tenant: TestTenant, id: string) =>
  (await tenant.stored(id)).timeline.filter(({ type }) => type === 'operator');

const available = async (tenant: TestTenant) =>
  (
    await service.deps.database.db
      .collection<{ _id: string; available_minor: bigint }>('wallets')
      .findOne({ _id: tenant.id })
  )?.available_minor;

const withAttention = (id: string) =>
  eventually(`${id} is found by its attention`, async () => {
    const query = `attention = true AND WorkflowId = "${transferWorkflowId(id)}" AND ExecutionStatus = "Running"`;
    for await (const found of service.deps.temporal.client.workflow.list({ query }))
      return found.workflowId;
    return undefined;
  });

describe('operators', () => {
  test('neither complete nor fail contradicts the bank: undecided means refused, and says so on the timeline', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    for (const kind of ['complete', 'fail'] as const) {
      expect(await act(tenant, id, kind)).toMatchObject({
        done: false,
        message: expect.stringContaining('pending'),
      });
    }
    expect(await tenant.get(id)).toMatchObject({ status: 'processing' });
    const lines = await operatorLines(tenant, id);
    expect(lines).toMatchObject([
      { actor: 'ada', detail: expect.stringMatching(/^complete: Not completed.*a customer asks/) },
      { actor: 'ada', detail: expect.stringMatching(/^fail: Not failed/) },
    ]);
  });

  test('a stuck transfer is found by its attention, and complete ends it once the bank confirms', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    expect(await withAttention(id)).toBe(transferWorkflowId(id));
    // Without the callback: only the operator's question finds it out, whatever comes first.
    await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
    await service.bank.tell(id, 'paid');
    expect(await act(tenant, id, 'complete')).toMatchObject({ done: true });
    await service.bank.faults([]);
    expect(await tenant.get(id)).toMatchObject({ status: 'completed', attention: null });
    await workflow(id).result();
  });

  test('complete with another session id than the bank has is refused', async () => {
    const tenant = await tenantWith();
    const id = await tenant.send();
    await tenant.waitFor(id, 'completed');
    const wrong = await act(tenant, id, 'complete', { session_id: '000' });
    expect(wrong).toMatchObject({ done: false, message: expect.stringContaining('session id') });
    const { session_id } = await tenant.get(id);
    expect(await act(tenant, id, 'complete', { session_id })).toMatchObject({ done: true });
  });

  test('fail by force gives the money back and watches on: a late payment goes to suspense, complete adopts it', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    expect(await act(tenant, id, 'fail', { force: true })).toMatchObject({ done: true });
    expect(await tenant.get(id)).toMatchObject({ status: 'failed', failure: { code: 'operator' } });
    expect(await available(tenant)).toBe(BigInt(BALANCE_MINOR));

    await service.bank.tell(id, 'paid');
    await tenant.waitFor(id, (transfer) => transfer.attention !== null);
    expect(await tenant.get(id)).toMatchObject({ status: 'failed' });
    expect(await withAttention(id)).toBe(transferWorkflowId(id));

    expect(await act(tenant, id, 'complete')).toMatchObject({ done: true });
    expect(await tenant.get(id)).toMatchObject({
      status: 'completed',
      attention: null,
      failure: null,
    });
    expect(await available(tenant)).toBe(BigInt(BALANCE_MINOR - ORDER_TOTAL_MINOR));
    await workflow(id).result();
  });

  test('the watch finds a late payment also where no callback tells of it', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    await act(tenant, id, 'fail', { force: true });
    await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
    await service.bank.tell(id, 'paid');
    await tenant.waitFor(id, (transfer) => transfer.attention !== null);
    await service.bank.faults([]);
    expect(await act(tenant, id, 'complete')).toMatchObject({ done: true });
  });

  test('the watch lasts where the bank never knew the payment, also over a run that was terminated', async () => {
    const tenant = await tenantWith();
    const id = await tenant.send('005');
    await eventually('the order is out', async () =>
      (await tenant.stored(id)).sends > 0 ? true : undefined,
    );
    expect(await act(tenant, id, 'fail', { force: true })).toMatchObject({ done: true });
    const { runId } = await workflow(id).describe();
    await workflow(id).terminate('by hand');
    await eventually('the watch goes on in another run', async () => {
      const { status, runId: now } = await workflow(id).describe();
      return status.name === 'RUNNING' && now !== runId ? true : undefined;
    });
    const before = await tenant.stored(id);
    await eventually('the bank is asked on', async () =>
      (await tenant.stored(id)).polls > before.polls + 1 ? true : undefined,
    );
    expect(await tenant.stored(id)).toMatchObject({ status: 'failed', sends: before.sends });
  });

  test('what the bank has paid cannot be failed, not even by force', async () => {
    const tenant = await tenantWith();
    const id = await tenant.send();
    await tenant.waitFor(id, 'completed');
    expect(await act(tenant, id, 'fail', { force: true })).toMatchObject({ done: false });
    expect(await tenant.get(id)).toMatchObject({ status: 'completed' });
  });

  test("what the bank refused is failed with the bank's word, by verify alone", async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
    await service.bank.tell(id, 'failed');
    expect(await act(tenant, id, 'verify')).toMatchObject({
      done: true,
      message: expect.stringContaining('did not pay'),
    });
    await service.bank.faults([]);
    expect(await tenant.get(id)).toMatchObject({ status: 'failed' });
    expect(await available(tenant)).toBe(BigInt(BALANCE_MINOR));
  });

  test('signals do the same, and one that can not be read is noted and ignored', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    await workflow(id).signal('fail', 'nonsense');
    await workflow(id).signal('complete', { actor: 'ada' });
    await workflow(id).signal('fail', { actor: 'ada', reason: 'by signal', force: true });
    await tenant.waitFor(id, 'failed');
    const lines = await eventually('all three are noted', async () => {
      const found = await operatorLines(tenant, id);
      return found.length >= 3 ? found : undefined;
    });
    expect(lines.map(({ actor }) => actor).toSorted()).toEqual(
      expect.arrayContaining(['ada', 'temporal', 'temporal']),
    );
    await service.bank.tell(id, 'failed');
  });

  test('an update that can not be read is refused before it reaches the history', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    const update = workflow(id).executeUpdate('complete', { args: [{ reason: 'no actor' }] });
    await expect(update).rejects.toMatchObject({
      cause: { message: expect.stringContaining('actor') },
    });
    await service.bank.tell(id, 'paid');
    await tenant.waitFor(id, 'completed');
  });

  test('an update that is refused fails with the reason, so that the Temporal UI does not call it successful', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    const update = workflow(id).executeUpdate('complete', {
      args: [{ actor: 'ada', reason: 'the customer says so' }],
    });
    await expect(update).rejects.toMatchObject({
      cause: { message: 'Not completed: the bank says that the payment is pending.' },
    });
    await service.bank.tell(id, 'paid');
    await tenant.waitFor(id, 'completed');
  });

  test('after all of it the books balance and agree with the bank', async () => {
    const open = await service.deps.transfers.latest({ attention: false, limit: 100 });
    for (const { _id, status } of open)
      if (status === 'processing') await service.bank.tell(_id, 'paid');
    await service.settled();
    expect(await service.problems()).toEqual([]);
  });
});
