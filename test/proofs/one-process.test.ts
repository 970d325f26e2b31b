import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, type TestTenant } from '../support/tenant.js';

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
  const ended = await Promise.all(
    Object.keys(expected).map(async (suffix) => {
      const { body } = await tenant.transfer(transferBody(suffix), wait);
      return [suffix, body.data.status];
    }),
  );
  expect(Object.fromEntries(ended)).toEqual(expected);
  expect(await service.problems()).toEqual([]);
});

test('a workflow begins in the process that starts it, without a poll', async () => {
  const { body } = await tenant.transfer(transferBody(), wait);
  const { workflow } = service.deps.temporal.client;
  const { events } = await workflow.getHandle(transferWorkflowId(body.data.id)).fetchHistory();
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  expect(started?.eagerExecutionAccepted).toBe(true);
});

test('a process that is killed in the middle of its transfers loses none and repeats none', async () => {
  const sent = Array.from({ length: 60 }, () => tenant.transfer(transferBody(), wait));
  const settled = Promise.allSettled(sent);
  await Promise.race(sent);
  await service.api.kill();
  await settled;
  await service.api.start();
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});

test('SIGTERM answers the requests in progress and ends the process', async () => {
  const body = transferBody('006');
  const waiting = tenant.transfer(body, wait);
  const { db } = service.deps.database;
  const ours = { tenant_id: tenant.id, reference: body.reference };
  await eventually(
    'the transfer is accepted',
    async () => (await db.collection('transfers').findOne(ours)) ?? undefined,
  );
  expect(await service.api.stop()).toEqual({ code: 0, signal: null });
  expect((await waiting).status).toBe(201);
});
