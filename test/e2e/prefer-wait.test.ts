import { randomUUID } from 'node:crypto';
import { eventually } from '../support/eventually.js';
import { SHARED_OPTIONS, shareService, type Service } from '../support/service.js';
import { transferBody, type TestTenant, type TransferView } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.twoApis);
  tenant = await service.tenant();
});

afterAll(async () => {
  await service?.close();
});

const isFinal = ({ status }: TransferView) => status === 'completed' || status === 'failed';

/** Sends another request while a busy machine has not ended the transfer in the time of the wait. */
const inTime = <Sent>(send: () => Promise<Sent>, transferOf: (sent: Sent) => TransferView) =>
  inTries(3, send, (sent) => isFinal(transferOf(sent)));

const waiting = (seconds: number | string) => ({ prefer: `wait=${seconds}` });

test('with Prefer: wait a transfer that ends in time is answered when it has ended', async () => {
  const reply = await inTime(
    () => tenant.transfer(transferBody(), { headers: waiting(20) }),
    ({ body }) => body.data,
  );
  expect(reply.status).toBe(201);
  expect(reply.headers.get('preference-applied')).toBe('wait=20');
  expect(reply.headers.get('location')).toBe(`/api/v1/transfers/${reply.body.data.id}`);
  expect(reply.body.data).toMatchObject({ status: 'completed', failure: null });
  expect(reply.body.data).toEqual(await tenant.get(reply.body.data.id));

  const { data: refused } = await inTime(
    () => tenant.client.createTransfer(transferBody('002'), { wait: 20 }),
    ({ data }) => data,
  );
  expect(refused.status).toBe('failed');
});

test('with Prefer: wait a transfer that does not end in time is answered with its current state', async () => {
  const reply = await tenant.transfer(transferBody('006'), { headers: waiting(1) });
  expect([reply.status, reply.headers.get('preference-applied')]).toEqual([201, 'wait=1']);
  expect(['pending', 'processing']).toContain(reply.body.data.status);
});

test('a repeat with Prefer: wait gets the current state, and every later repeat gets that response', async () => {
  const { body, key, first, waited } = await inTime(
    async () => {
      const sent = { body: transferBody(), key: randomUUID() };
      const accepted = await tenant.transfer(sent.body, { key: sent.key });
      const repeat = { key: sent.key, headers: waiting(20) };
      return { ...sent, first: accepted, waited: await tenant.transfer(sent.body, repeat) };
    },
    (sent) => sent.waited.body.data,
  );
  expect(first.headers.get('preference-applied')).toBeNull();
  expect(waited.body.data).toMatchObject({ id: first.body.data.id, status: 'completed' });
  expect(waited.headers.get('idempotent-replayed')).toBe('true');
  expect((await tenant.transfer(body, { key })).text).toBe(waited.text);

  // The first request may wait, too.
  const { again, state } = await inTime(
    async () => {
      const sent = { body: transferBody(), key: randomUUID() };
      const options = { idempotencyKey: sent.key, wait: 20 };
      return { again: sent, state: await tenant.client.createTransfer(sent.body, options) };
    },
    (sent) => sent.state.data,
  );
  expect(state).toMatchObject({ data: { status: 'completed' }, replayed: false });
  const bytes = await tenant.transfer(again.body, { key: again.key });
  expect(bytes.body.data).toMatchObject({ id: state.data.id, status: 'completed' });
});

test('a malformed Prefer header is ignored', async () => {
  for (const bad of ['soon', '-1', '1.5', '']) {
    const reply = await tenant.transfer(transferBody(), { headers: waiting(bad) });
    expect([reply.status, reply.headers.get('preference-applied')]).toEqual([201, null]);
    expect(reply.body.data.status).toBe('pending');
  }
});

test('a refusal does not wait', async () => {
  const poor = await service.tenant({ balanceMinor: 10 });
  await expect(poor.client.createTransfer(transferBody(), { wait: 20 })).rejects.toMatchObject({
    status: 422,
    code: 'insufficient_balance',
  });
});

test('a transfer continues after its waiting client has disconnected', async () => {
  const body = transferBody('001', { idempotency_key: 'left alone' });
  await expect(
    fetch(`${service.api.url}/api/v1/transfers`, {
      method: 'POST',
      signal: AbortSignal.timeout(700),
      headers: {
        authorization: `Bearer ${tenant.key}`,
        'content-type': 'application/json',
        ...waiting(20),
      },
      body: JSON.stringify(body),
    }),
  ).rejects.toThrow();
  const { body: kept } = await tenant.transfer(body);
  await tenant.waitFor(kept.data.id, 'completed');
});

test('a stopping API answers waiting requests at once, with the current state', async () => {
  const stopping = await service.newApi();
  await stopping.start();
  const body = transferBody('006');
  const pending = tenant.at(stopping.url).transfer(body, { headers: waiting(30) });
  await eventually('it waits', async () => {
    const { db } = service.deps.database;
    return (await db.collection('transfers').findOne({ reference: body.reference })) ?? undefined;
  });
  expect(await stopping.stop()).toEqual({ code: 0, signal: null });
  const reply = await pending;
  expect([reply.status, reply.headers.get('preference-applied')]).toEqual([201, 'wait=30']);
  expect(['pending', 'processing']).toContain(reply.body.data.status);
});
