import { findEngine } from '../../devstack/find.js';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { approvedPayload } from '../support/approvals.js';
import { bursar, run } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { foundBySavedQueries } from '../support/saved-queries.js';
import { startService, type Service } from '../support/service.js';
import { ORDER_TOTAL_MINOR, type TestTenant } from '../support/tenant.js';

const BALANCE_MINOR = 1_000_000;
/** Account suffix of transfers that stay pending until the test sets their outcome at the bank. */
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

/** Creates a transfer that the bank has accepted and has not decided. */
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
  const record = await tenant.stored(id);
  // A second person has approved what is forced.
  const sent = payload.force
    ? await approvedPayload(service.deps, 'transfers', record, payload)
    : payload;
  return service.deps.transfers.starter.command(record, kind, sent);
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
    const query = `NeedsAttention = true AND WorkflowId = "${transferWorkflowId(id)}" AND ExecutionStatus = "Running"`;
    for await (const found of service.deps.temporal.client.workflow.list({ query }))
      return found.workflowId;
    return undefined;
  });

async function reconcile(...flags: string[]) {
  const line = ['reconcile', '--per-second', '1000', '--json', ...flags].join(' ');
  const { code, out } = await bursar(line, service.env);
  type Row = { id: string; difference: string; outcome: string | null };
  const report = JSON.parse(out) as {
    ok: boolean;
    asked: number;
    unanswered: number;
    differing: number;
    settled: number;
    differences: Row[];
  };
  return { code, out, ...report };
}

describe('operators', () => {
  test('complete and fail are refused while the bank is undecided, and the timeline records it', async () => {
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
      {
        actor: 'operator',
        detail: expect.stringMatching(/^complete: Not completed/),
        internal: 'says to be ada: a customer asks',
      },
      { actor: 'operator', detail: expect.stringMatching(/^fail: Not failed/) },
    ]);
  });

  test('a stuck transfer is found by its attention, and complete ends it once the bank confirms the payment', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    expect(await withAttention(id)).toBe(transferWorkflowId(id));
    // Without the callback, only the operator's command makes the service verify.
    await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
    await service.bank.decideTransfer(id, 'paid');
    expect(await act(tenant, id, 'complete')).toMatchObject({ done: true });
    await service.bank.faults([]);
    expect(await tenant.get(id)).toMatchObject({ status: 'completed', attention: null });
    await workflow(id).result();
  });

  test.each([
    ['less', 149_000],
    ['more', 151_000],
  ])(
    'a payment of %s than was ordered has attention, and complete with the bank’s amount ends it',
    async (_, amount) => {
      const tenant = await tenantWith();
      const id = await stuck(tenant);
      await service.bank.decideTransfer(id, 'paid', amount);
      // A slow answer of the bank may have been a reason for attention before.
      await tenant.waitFor(
        id,
        ({ attention }) => attention?.reason.includes('another amount') ?? false,
      );
      expect(await act(tenant, id, 'complete')).toMatchObject({ done: false });
      const wrong = await act(tenant, id, 'complete', { amount_minor: amount + 1 });
      expect(wrong).toMatchObject({ done: false, message: expect.stringContaining('the amount') });
      const line = `transfers complete ${id} --reason settled --amount-minor ${amount} --json`;
      const { code, out } = await bursar(line, service.env);
      expect([code, JSON.parse(out)]).toMatchObject([0, { done: true, status: 'completed' }]);
      expect(await tenant.get(id)).toMatchObject({
        status: 'completed',
        attention: null,
        amount_minor: 150_000,
        settled_amount_minor: amount,
      });
      const paidMinor = Math.min(amount, 150_000) + ORDER_TOTAL_MINOR - 150_000;
      expect(await available(tenant)).toBe(BigInt(BALANCE_MINOR - paidMinor));
      expect((await bursar('ledger verify --json', service.env)).code).toBe(0);
      await workflow(id).result();
    },
  );

  test('complete is refused with a session id other than the bank’s', async () => {
    const tenant = await tenantWith();
    const id = await tenant.send();
    await tenant.waitFor(id, 'completed');
    const wrong = await act(tenant, id, 'complete', { session_id: '000' });
    expect(wrong).toMatchObject({ done: false, message: expect.stringContaining('session id') });
    const { session_id } = await tenant.get(id);
    expect(await act(tenant, id, 'complete', { session_id })).toMatchObject({ done: true });
  });

  test('a forced fail releases the hold and starts monitoring: a late payment goes to suspense, and complete debits the wallet for it', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    expect(await act(tenant, id, 'fail', { force: true })).toMatchObject({ done: true });
    expect(await tenant.get(id)).toMatchObject({ status: 'failed', failure: { code: 'operator' } });
    expect(await available(tenant)).toBe(BigInt(BALANCE_MINOR));

    await service.bank.decideTransfer(id, 'paid');
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

  test('monitoring finds a late payment without a callback', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    await act(tenant, id, 'fail', { force: true });
    await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
    await service.bank.decideTransfer(id, 'paid');
    await tenant.waitFor(id, (transfer) => transfer.attention !== null);
    await service.bank.faults([]);
    expect(await act(tenant, id, 'complete')).toMatchObject({ done: true });
  });

  test('monitoring continues for a payment that the bank never knew, also after its run was terminated', async () => {
    const tenant = await tenantWith();
    const id = await tenant.send('005');
    await eventually('the order is out', async () =>
      (await tenant.stored(id)).submissions > 0 ? true : undefined,
    );
    expect(await act(tenant, id, 'fail', { force: true })).toMatchObject({ done: true });
    const { runId } = await workflow(id).describe();
    await workflow(id).terminate('by an operator');
    await eventually('monitoring continues in another run', async () => {
      const { status, runId: now } = await workflow(id).describe();
      return status.name === 'RUNNING' && now !== runId ? true : undefined;
    });
    const before = await tenant.stored(id);
    await eventually('the bank is polled further', async () =>
      (await tenant.stored(id)).polls > before.polls + 1 ? true : undefined,
    );
    expect(await tenant.stored(id)).toMatchObject({
      status: 'failed',
      submissions: before.submissions,
    });
  });

  test('a transfer that the bank has paid cannot be failed, not even by force', async () => {
    const tenant = await tenantWith();
    const id = await tenant.send();
    await tenant.waitFor(id, 'completed');
    expect(await act(tenant, id, 'fail', { force: true })).toMatchObject({ done: false });
    expect(await tenant.get(id)).toMatchObject({ status: 'completed' });
  });

  test('verify fails a transfer that the bank has rejected, with the bank’s reason', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
    await service.bank.decideTransfer(id, 'failed');
    expect(await act(tenant, id, 'verify')).toMatchObject({
      done: true,
      message: expect.stringContaining('did not pay'),
    });
    await service.bank.faults([]);
    expect(await tenant.get(id)).toMatchObject({ status: 'failed' });
    expect(await available(tenant)).toBe(BigInt(BALANCE_MINOR));
  });

  test('operator commands work as signals too, and a malformed signal is recorded and ignored', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    await workflow(id).signal('fail', 'nonsense');
    await workflow(id).signal('complete', { actor: 'ada' });
    await workflow(id).signal('fail', { actor: 'ada', reason: 'by signal' });
    const lines = await eventually('all three are noted', async () => {
      const found = await operatorLines(tenant, id);
      return found.length >= 3 ? found : undefined;
    });
    expect(lines.map(({ actor }) => actor).toSorted()).toEqual(
      expect.arrayContaining(['operator', 'temporal', 'temporal']),
    );
    await service.bank.decideTransfer(id, 'failed');
  });

  test.each([
    ['a foreign encoding', 'json/protobuf', '{}'],
    ['an encrypted encoding', 'binary/encrypted', '\u0001\u0002'],
    ['bytes that are no JSON', 'json/plain', '{"actor": "ada"'],
  ])(
    'a signal in %s is recorded and ignored, and the transfer continues',
    async (_, encoding, text) => {
      const tenant = await tenantWith();
      const id = await stuck(tenant);
      const { connection, options } = service.deps.temporal.client;
      const payload = { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(text) };
      for (const signalName of ['fail', 'recordChanged']) {
        await connection.workflowService.signalWorkflowExecution({
          namespace: options.namespace,
          workflowExecution: { workflowId: transferWorkflowId(id) },
          signalName,
          input: { payloads: [payload] },
        });
      }
      const [line] = await eventually('it is noted', async () => {
        const found = await operatorLines(tenant, id);
        return found.length > 0 ? found : undefined;
      });
      expect(line).toMatchObject({
        actor: 'temporal',
        detail: 'a message was ignored: fail could not be decoded: send JSON',
      });
      expect(await tenant.get(id)).toMatchObject({ status: 'processing' });
      await service.bank.decideTransfer(id, 'paid');
      await tenant.waitFor(id, 'completed');
      await workflow(id).result();
    },
  );

  test("the guide's queries for Temporal's list find a stuck transfer by what it is, with all columns", async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    await withAttention(id);
    const columns = {
      TenantId: [tenant.id],
      Provider: ['sandbox-bank'],
      Reference: [id],
      AmountMinor: [150_000],
      NeedsAttention: [true],
    };
    const { client } = service.deps.temporal;
    expect(await foundBySavedQueries(client, tenant.id, id)).toEqual({
      attention: expect.objectContaining(columns),
      open: expect.objectContaining(columns),
      large: null,
      'a tenant': expect.objectContaining(columns),
      'a record': expect.objectContaining(columns),
    });
    await service.bank.decideTransfer(id, 'paid');
    await tenant.waitFor(id, 'completed');
  });

  test('a batch signal to the result of a query reaches each stuck transfer and ends it as the bank says', async () => {
    const tenant = await tenantWith();
    const ids = await Promise.all([stuck(tenant), stuck(tenant), stuck(tenant)]);
    // The bank does not answer, so that no transfer ends before the signal.
    const silence = { kind: 'error_500', probability: 1 } as const;
    await service.bank.faults([
      { call: 'lookup', ...silence },
      { call: 'callback', ...silence },
    ]);
    for (const id of ids) await withAttention(id);
    const query = `NeedsAttention = true AND TenantId = '${tenant.id}'`;
    const { env } = service;
    const { binary } = await findEngine('temporal', process.env, () => {});
    const input = JSON.stringify({ actor: 'ada', reason: 'the bank is back' });
    const to = ['--address', String(env['TEMPORAL_ADDRESS']), '--namespace', 'bursar-sandbox'];
    const line = ['workflow', 'signal', '--query', query, '--name', 'retry', '--input', input];
    const signal = await run(binary, [...line, '--reason', 'the bank is back', '--yes', ...to], {});
    expect(signal).toMatchObject({ code: 0 });
    for (const id of ids) {
      const [noted] = await eventually(`${id} has its signal`, async () => {
        const found = await operatorLines(tenant, id);
        return found.length > 0 ? found : undefined;
      });
      // Tenants read that an operator acted, not who, nor why.
      expect(noted).toMatchObject({
        actor: 'operator',
        detail: expect.stringMatching(/^retry: /),
        internal: 'says to be ada: the bank is back',
      });
      await service.bank.decideTransfer(id, 'paid');
    }
    await service.bank.faults([]);
    for (const id of ids) {
      await tenant.waitFor(id, 'completed');
      await workflow(id).result();
    }
  });

  test('a malformed update is refused before it reaches the history', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    const update = workflow(id).executeUpdate('complete', { args: [{ reason: 'no actor' }] });
    await expect(update).rejects.toMatchObject({
      cause: { message: expect.stringContaining('actor') },
    });
    await service.bank.decideTransfer(id, 'paid');
    await tenant.waitFor(id, 'completed');
  });

  test('reconcile reports differences to the bank, and applies them only with --apply', async () => {
    const tenant = await tenantWith();
    const [open, failed] = [await stuck(tenant), await stuck(tenant)];
    await act(tenant, failed, 'fail', { force: true });
    // No workflow may find the outcome first.
    await service.worker.kill();
    await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
    for (const id of [open, failed]) await service.bank.decideTransfer(id, 'paid');

    const reported = await reconcile();
    expect(reported).toMatchObject({ code: 1, ok: false, unanswered: 0, differing: 2, settled: 0 });
    expect(new Map(reported.differences.map((row) => [row.id, row.difference]))).toEqual(
      new Map([
        [open, 'processing with us, paid at the bank'],
        [failed, 'failed with us, paid at the bank'],
      ]),
    );
    expect(await tenant.get(open)).toMatchObject({ status: 'processing' });
    expect(reported.out).not.toContain((await tenant.stored(open)).recipient.account);

    const applied = await reconcile('--apply');
    expect(applied).toMatchObject({ code: 1, differing: 2, settled: 1 });
    expect(new Map(applied.differences.map((row) => [row.id, row.outcome]))).toEqual(
      new Map([
        [open, 'applied'],
        [failed, 'attention'],
      ]),
    );
    expect(await tenant.get(open)).toMatchObject({ status: 'completed' });
    // The payment is in suspense and waits for an operator: the ledger agrees with the bank's journal.
    expect(await tenant.get(failed)).toMatchObject({ status: 'failed', attention: {} });
    expect(await reconcile()).toMatchObject({ code: 0, ok: true, differing: 0 });

    await service.bank.faults([]);
    await service.worker.start();
    expect(await act(tenant, failed, 'complete')).toMatchObject({ done: true });
  });

  test('reconcile reports a bank that does not answer', async () => {
    await service.bank.faults([{ call: 'lookup', kind: 'error_500', probability: 1 }]);
    const silent = await reconcile();
    expect(silent).toMatchObject({ code: 1, ok: false, differing: 0 });
    expect(silent.unanswered).toBe(silent.asked);
    await service.bank.faults([]);
    expect(await bursar('reconcile --since yesterday', service.env)).toMatchObject({
      code: 1,
      error: expect.stringContaining('2026-11-21'),
    });
  });

  test('a refused update fails with the reason, so that the Temporal UI does not show it as successful', async () => {
    const tenant = await tenantWith();
    const id = await stuck(tenant);
    const update = workflow(id).executeUpdate('complete', {
      args: [{ actor: 'ada', reason: 'the customer says so' }],
    });
    await expect(update).rejects.toMatchObject({
      cause: { message: 'Not completed: the bank says that the payment is pending.' },
    });
    await service.bank.decideTransfer(id, 'paid');
    await tenant.waitFor(id, 'completed');
  });

  test('afterwards the ledger balances and agrees with the bank', async () => {
    const open = await service.deps.transfers.store.latest({ attention: false, limit: 100 });
    for (const { _id, status } of open)
      if (status === 'processing') await service.bank.decideTransfer(_id, 'paid');
    await service.allEnded();
    expect(await service.problems()).toEqual([]);
    expect(await reconcile()).toMatchObject({ code: 0, ok: true, asked: open.length });
  });
});
