import { deliveryWorkflowId } from '../../src/core/webhooks/workflow-contract.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startListening, type Listening } from '../support/listening.js';

let all: Listening;
beforeAll(async () => {
  all = await startListening({
    // Four seconds.
    BURSAR_WEBHOOK_PARK_AFTER_DAYS: '0.00005',
    BURSAR_WEBHOOK_RETRY_SECONDS: Array(20).fill('1').join(','),
  });
});
afterAll(async () => {
  await all?.close();
});

async function command(line: string): Promise<{ code: number; found: never }> {
  const { code, out } = await bursar(`${line} --json`, all.service.env);
  return { code, found: JSON.parse(out) as never };
}

test('an endpoint that fails for days is parked: nothing is sent, deliveries stay, an operator is told, and a command resumes it', async () => {
  const at = await all.receiver(500);
  const { tenant, id } = await all.tenant(at);
  const before = [await tenant.send(), await tenant.send()];
  const list = `webhooks endpoints list --tenant ${tenant.id}`;
  await eventually('the endpoint is parked', async () =>
    (await all.webhooks.endpoints.get(id))?.status === 'parked' ? true : undefined,
  );
  const { workflow } = all.service.deps.temporal.client;
  await workflow.getHandle(deliveryWorkflowId(id)).result();
  // An attempt that began before the parking may still be under way.
  await all.inState(tenant, 'retrying', 4);
  const sent = at.received.length;

  const [listed, doctor] = await Promise.all([command(list), command('doctor')]);
  expect(listed.found).toMatchObject([
    { id, status: 'parked', failing_since: expect.stringMatching(/Z$/) },
  ]);
  expect(doctor).toMatchObject({
    code: 1,
    found: expect.arrayContaining([
      expect.objectContaining({ check: 'webhooks: parked endpoints', ok: false }),
    ]),
  });

  // Events of this time wait too.
  const meanwhile = await tenant.send();
  await tenant.waitFor(meanwhile, 'completed');
  const waiting = await all.inState(tenant, 'retrying', 6);
  expect(waiting).toHaveLength(6);
  expect(at.received).toHaveLength(sent);

  at.behave(204);
  expect(await command(`webhooks endpoints resume ${id}`)).toMatchObject({ code: 0 });
  await all.inState(tenant, 'delivered', 6);
  for (const transfer of [...before, meanwhile]) await all.waitForEvents(at, transfer, 2);
  expect(await all.webhooks.endpoints.get(id)).toMatchObject({
    status: 'enabled',
    failingSince: null,
  });
  const { code } = await bursar('webhooks endpoints resume whe_nobody', all.service.env);
  expect(code).toBe(1);
});
