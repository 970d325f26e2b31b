import { toOutgoing } from '../../src/core/webhooks/deliveries.js';
import { deliveryWorkflowId } from '../../src/core/webhooks/workflow-contract.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startListening, type Listening } from '../support/listening.js';
import type { Receiver } from '../support/receiver.js';
import type { TestTenant } from '../support/tenant.js';

let all: Listening;
beforeAll(async () => {
  // No delivery uses up its attempts within a test.
  all = await startListening({
    BURSAR_WEBHOOK_RETRY_SECONDS: Array(20).fill('1').join(','),
  });
});
afterAll(async () => {
  await all?.close();
});

const runsOf = async (tenant: TestTenant) => {
  const query = `WorkflowType = 'webhookDelivery' AND TenantId = '${tenant.id}'`;
  const ids: string[] = [];
  for await (const { workflowId } of all.service.deps.temporal.client.workflow.list({ query })) {
    ids.push(workflowId);
  }
  return ids;
};

/** A tenant whose endpoint refuses everything, with this number of transfers. */
async function failing(count: number) {
  const at = await all.receiver(503);
  const { tenant, id: endpoint } = await all.tenant(at);
  const ids = await Promise.all(Array.from({ length: count }, () => tenant.send()));
  await Promise.all(ids.map((id) => tenant.waitFor(id, 'completed')));
  await eventually('the endpoint is failing', async () =>
    (await all.webhooks.endpoints.get(endpoint))?.failingSince ? true : undefined,
  );
  const run = all.service.deps.temporal.client.workflow.getHandle(deliveryWorkflowId(endpoint));
  await eventually('its workflow is there', () => run.describe());
  return { at, tenant, endpoint, ids };
}

async function expectAll(at: Receiver, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const names = await eventually(`both events of ${id}`, () => {
      const found = new Set(at.events(id).map(({ event }) => event));
      return found.size === 2 ? found : undefined;
    });
    expect(names).toEqual(new Set(['transfer.processing', 'transfer.completed']));
  }
}

test('a failing endpoint has one workflow, however many deliveries wait, and gets all of them when it answers again', async () => {
  const { at, tenant, endpoint, ids } = await failing(15);
  const waiting = await eventually('all deliveries wait', async () => {
    const found = await all.deliveriesOf(tenant);
    return found.every(({ status }) => status === 'retrying') ? found : undefined;
  });
  expect(waiting).toHaveLength(30);
  const runs = await eventually('the workflow is listed', async () => {
    const found = await runsOf(tenant);
    return found.length > 0 ? found : undefined;
  });
  expect(runs).toEqual([deliveryWorkflowId(endpoint)]);
  at.behave(204);
  await all.inState(tenant, 'delivered', 30);
  await expectAll(at, ids);
  await all.service.deps.temporal.client.workflow.getHandle(deliveryWorkflowId(endpoint)).result();
  expect(await all.webhooks.endpoints.get(endpoint)).toMatchObject({ failingSince: null });
});

test('the workflow of a failing endpoint is started again after its loss', async () => {
  const { at, tenant, endpoint, ids } = await failing(2);
  const { workflow } = all.service.deps.temporal.client;
  await workflow.getHandle(deliveryWorkflowId(endpoint)).terminate('lost');
  at.behave(204);
  await all.inState(tenant, 'delivered', 4);
  await expectAll(at, ids);
});

test('a delivery that comes to wait just after the workflow of its endpoint has ended is delivered', async () => {
  const at = await all.receiver(204);
  const { tenant, id } = await all.tenant(at);
  const draft = {
    tenantId: tenant.id,
    resource: 'trf_late',
    name: 'transfer.completed',
    sequence: 1,
    at: new Date(),
    data: { id: 'trf_late' },
  };
  await all.webhooks.deliveries.insert([toOutgoing(draft, [{ id, waits: true }], new Date())]);
  await all.inState(tenant, 'delivered');
  expect(at.events('trf_late')).toHaveLength(1);
});

test('what waits for a failing endpoint is cancelled by the command that disables or removes it', async () => {
  const [disabled, removed] = [await failing(2), await failing(2)];
  const change = (name: string, endpoint: string) =>
    bursar(`webhooks endpoints ${name} ${endpoint} --json`, all.service.env);
  expect(await change('disable', disabled.endpoint)).toMatchObject({ code: 0 });
  expect(await change('remove --yes', removed.endpoint)).toMatchObject({ code: 0 });
  for (const { tenant, endpoint } of [disabled, removed]) {
    await all.inState(tenant, 'cancelled', 4);
    const { workflow } = all.service.deps.temporal.client;
    await workflow.getHandle(deliveryWorkflowId(endpoint)).result();
  }
});

test('no check is left of an endpoint that is disabled while nothing waits for it', async () => {
  const { id } = await all.tenant(await all.receiver());
  await all.webhooks.disableEndpoint(id);
  const endpoints = all.service.deps.database.db.collection<{ _id: string }>('webhook_endpoints');
  await eventually('its workflow has ended', async () =>
    (await endpoints.findOne({ _id: id, next_check_at: null })) ? true : undefined,
  );
});
