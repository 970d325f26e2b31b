import { logRaisedAttention } from '../../src/composition/attention-log.js';
import { supervisedRecords } from '../../src/composition/supervision.js';
import { workflowIds } from '../../src/composition/workflow-ids.js';
import { createLog } from '../../src/shared/log.js';
import { transfers } from '../../src/capabilities/transfers/record.js';
import { acceptedIds, bulkClient } from '../support/bulk.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { linesInto } from '../support/log-lines.js';
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
    // The last line may not be whole yet.
    .filter((text) => text.startsWith('{') && text.endsWith('}'))
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
  expect(lines({ ...about, msg: 'attention raised' })).toEqual([
    expect.objectContaining({
      ...about,
      level: 'warn',
      workflow_id: `transfer/${id}`,
      reason: record.attention?.reason,
    }),
  ]);
});

test('logs alone lead from the id of a request to the webhook, and the record has that id for operators alone', async () => {
  const tenant = await service.tenant();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
  const request_id = 'shop-order-1042';
  const headers = { 'x-request-id': request_id };
  await tenant.transfer(transferBody(), { headers, key: 'order-1042' });
  const [line] = await eventually('the request is logged', async () => {
    const found = lines({ request_id, msg: 'request' });
    return found.length > 0 ? found : undefined;
  });
  const resource = String(line?.['resource']);
  const [delivered] = await eventually('the webhook is logged', async () => {
    const found = lines({ resource, msg: 'webhook delivered' });
    return found.length > 0 ? found : undefined;
  });
  expect(delivered).toMatchObject({ tenant: tenant.id, resource });
  const submitted = { provider: 'sandbox-bank', call: 'submit', result: 'succeeded' };
  await eventually('the call to the bank is logged', () =>
    lines({ resource, msg: 'provider called', ...submitted }).length > 0 ? true : undefined,
  );

  // The repeat has an id of its own, and has not made the record.
  const repeated = { headers: { 'x-request-id': 'shop-order-1042-again' }, key: 'order-1042' };
  const body = transferBody('789', { reference: 'once' });
  await tenant.transfer(body, { ...repeated, key: 'once', headers });
  const again = await tenant.transfer(body, { ...repeated, key: 'once' });
  expect(await tenant.stored(again.body.data.id)).toMatchObject({ http_request_id: request_id });

  const shown = await bursar(`transfers show ${resource} --json`, service.env);
  const record = JSON.parse(shown.out) as Line & { timeline: Line[] };
  expect(record).toMatchObject({ http_request_id: request_id });
  expect(record.timeline[0]).toMatchObject({
    type: 'accepted',
    internal: `request ${request_id}`,
  });
  for (const path of [`/transfers/${resource}`, `/transfers/${resource}/timeline`]) {
    expect((await tenant.call('GET', path, undefined)).text).not.toContain(request_id);
  }
});

test('a record without a request id is shown as before, and every record of a request has the same id', async () => {
  const tenant = await service.tenant();
  const answer = await bulkClient(tenant).send([transferBody(), transferBody()]);
  const request_id = String(answer.headers.get('x-request-id'));
  const ids = acceptedIds(answer.body.data);
  const { db } = service.deps.database;
  const stored = await db.collection('transfers').find({ tenant_id: tenant.id }).toArray();
  expect(stored.map(({ http_request_id: id }) => id as unknown)).toEqual([request_id, request_id]);
  const [bulk] = await db.collection('bulk_transfers').find({ tenant_id: tenant.id }).toArray();
  expect(bulk).toMatchObject({ http_request_id: request_id });

  const id = String(ids[0]);
  await tenant.waitFor(id, 'completed');
  const unset = { $unset: { http_request_id: true } } as const;
  await db.collection(transfers.name).updateOne({ _id: id as never, tenant_id: tenant.id }, unset);
  const { code, out } = await bursar(`transfers show ${id} --json`, service.env);
  const record = JSON.parse(out) as Line & { timeline: Line[] };
  expect({ code, record }).toMatchObject({ code: 0, record: { http_request_id: null } });
  expect(record.timeline[0]).not.toHaveProperty('internal');
});

test('attention that a commit raises is logged once, however often the fact is repeated', async () => {
  const warnings: string[] = [];
  const log = createLog({ level: 'warn', name: 'test', destination: linesInto(warnings) });
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
