import { Writable } from 'node:stream';
import { logRaisedAttention } from '../../src/composition/attention-log.js';
import { supervisedRecords } from '../../src/composition/supervision.js';
import { workflowIds } from '../../src/composition/workflow-ids.js';
import { createLog } from '../../src/shared/log.js';
import { eventually } from '../support/eventually.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startService, type Service } from '../support/service.js';
import { transferBody } from '../support/tenant.js';

let service: Service;
let receiver: Receiver;
beforeAll(async () => {
  service = await startService({
    env: {
      BURSAR_LOG_LEVEL: 'debug',
      BURSAR_ATTENTION_AFTER_MS: '1000',
      BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
    },
  });
  receiver = await startReceiver();
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

type Line = Record<string, unknown>;
/** The lines of API and worker that have these fields. */
const lines = (wanted: Line): Line[] =>
  service
    .logs()
    .split('\n')
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text) as Line)
    .filter((line) => Object.entries(wanted).every(([name, value]) => line[name] === value));

test('the logs lead from a request by its id to the transfer, to its attention and to its webhook', async () => {
  const tenant = await service.tenant();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
  const { headers, body } = await tenant.transfer(transferBody('006'));
  const { id } = body.data;
  const request_id = headers.get('x-request-id');
  expect(request_id).toBeTruthy();
  const about = { resource: id, tenant: tenant.id };
  await eventually('the lines are there', async () =>
    lines({ ...about, msg: 'attention raised' }).length > 0 &&
    lines({ ...about, msg: 'webhook delivered' }).length > 0 &&
    lines({ ...about, msg: 'request' }).length > 0
      ? true
      : undefined,
  );
  expect(lines({ request_id })).toEqual([expect.objectContaining({ ...about, msg: 'request' })]);
  const record = await tenant.stored(id);
  expect(lines({ msg: 'attention raised' })).toEqual([
    expect.objectContaining({
      ...about,
      level: 'warn',
      workflow_id: `transfer/${id}`,
      reason: record.attention?.reason,
    }),
  ]);
});

test('attention that a commit raises is logged once, however often the fact is repeated', async () => {
  const warnings: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      warnings.push(chunk.toString());
      done();
    },
  });
  const log = createLog({ level: 'warn', name: 'test', destination });
  logRaisedAttention(service.deps.groupCommit, log);
  const tenant = await service.tenant();
  const id = await tenant.send();
  await tenant.waitFor(id, 'completed');
  const source = { via: 'poll', actor: null, providerRequestId: null, note: null } as const;
  const rejected = { ...source, kind: 'rejected', code: 'invalid_account' } as const;
  for (let repeat = 0; repeat < 2; repeat += 1) {
    await service.deps.transfers.store.applyFact(tenant.id, id, rejected);
  }
  expect(warnings.map((line) => JSON.parse(line) as Line)).toEqual([
    expect.objectContaining({
      msg: 'attention raised',
      resource: id,
      tenant: tenant.id,
      workflow_id: `transfer/${id}`,
      reason: (await tenant.stored(id)).attention?.reason,
    }),
  ]);
});

test('a log line can name the workflow of every supervised record', () => {
  const supervised = Object.keys(supervisedRecords(service.deps));
  expect(Object.keys(workflowIds).toSorted()).toEqual(supervised.toSorted());
});
