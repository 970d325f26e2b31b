import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, untilTaken, type TestTenant } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

let service: Service;
let tenant: TestTenant;
beforeAll(async () => {
  service = await startService({ oneProcess: true });
  tenant = await service.tenant();
});
afterAll(async () => service.close());

const wait = { headers: { prefer: 'wait=20' } };

test('API and worker in one process end each transfer right', async () => {
  const expected = {
    '789': 'completed',
    '001': 'completed',
    '002': 'failed',
    '004': 'completed',
    '007': 'completed',
    '010': 'completed',
  };
  await Promise.all(
    Object.entries(expected).map(async ([suffix, status]) =>
      tenant.waitFor(await tenant.send(suffix), status),
    ),
  );
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});

test('a workflow begins in the process that starts it, without a poll', async () => {
  const { workflow } = service.deps.temporal.client;
  const isEager = async () => {
    const id = await tenant.send();
    await tenant.waitFor(id, 'completed');
    const { events } = await workflow.getHandle(transferWorkflowId(id)).fetchHistory();
    return events?.[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted;
  };
  // The dispatcher starts what a busy process could not start in time.
  expect(await inTries(3, isEager, (is) => is === true)).toBe(true);
});

test('a process that is killed in the middle of its transfers loses none and repeats none', async () => {
  const sent = Array.from({ length: 60 }, () => tenant.transfer(transferBody(), wait));
  const settled = Promise.allSettled(sent);
  await Promise.any(sent);
  await service.api.kill();
  await settled;
  await service.api.start();
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});

test('SIGTERM answers the requests in progress and ends the process', async () => {
  const body = transferBody('006');
  const waiting = untilTaken((under) => tenant.transfer(body, { ...under, ...wait }));
  const { db } = service.deps.database;
  const ours = { tenant_id: tenant.id, reference: body.reference };
  await eventually(
    'the transfer is accepted',
    async () => (await db.collection('transfers').findOne(ours)) ?? undefined,
  );
  expect(await service.api.stop()).toEqual({ code: 0, signal: null });
  expect((await waiting).status).toBe(201);
});
