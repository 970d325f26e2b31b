import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { ORDER_TOTAL_MINOR, type TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  // The bank sends no callbacks, and nothing asks about a completed transfer but the scheduled reconciliation.
  service = await startService({
    bank: { callbacks: false },
    env: { BURSAR_RECONCILIATION_DAYS: '1', BURSAR_RECONCILIATION_EVERY_MS: '2000' },
  });
  tenant = await service.tenant();
});
afterAll(async () => {
  await service?.close();
});

test('a reversal whose message was lost is found by the scheduled reconciliation, and gives the money back once', async () => {
  const before = await tenant.balance();
  const [reversed, kept] = [await tenant.send('008'), await tenant.send('000')];
  await tenant.waitFor(kept, 'completed');
  const found = await tenant.waitFor(reversed, 'failed');
  expect(found).toMatchObject({ failure: { code: 'reversed' }, attention: null });
  const { timeline } = await tenant.stored(reversed);
  expect(timeline.filter(({ type }) => type === 'reversed')).toHaveLength(1);

  // Later runs find no difference.
  const runs = async () => {
    const workflows = service.deps.temporal.client.workflow.list({
      query: `WorkflowType = "transferReconciliation" AND TaskQueue = "${service.env['BURSAR_TASK_QUEUE']}" AND ExecutionStatus = "Completed"`,
    });
    let count = 0;
    for await (const _ of workflows) count += 1;
    return count;
  };
  const soFar = await runs();
  await eventually('two more reconciliations have ended', async () =>
    (await runs()) >= soFar + 2 ? true : undefined,
  );
  expect((await tenant.get(kept)).status).toBe('completed');
  expect(await service.problems()).toEqual([]);
  expect(await tenant.balance()).toEqual({
    available: before.available - ORDER_TOTAL_MINOR,
    held: 0,
  });
});

test('a completed transfer that the bank does not know raises attention', async () => {
  const id = await tenant.send('000');
  await tenant.waitFor(id, 'completed');
  await service.bank.failOver([id], 60_000);
  const { reason } = await eventually(
    'an operator is called',
    async () => (await tenant.stored(id)).attention ?? undefined,
  );
  expect(reason).toBe('reconciliation: completed with us, unknown at the bank');
});
