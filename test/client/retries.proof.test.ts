import { BursarError, createClient, type Client } from '../../client/src/index.js';
import { send } from '../../client/src/send.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, type TestTenant } from '../support/tenant.js';
import { startProxy, type Proxy } from './proxy.js';

let service: Service;
let tenant: TestTenant;
let proxy: Proxy;
let client: Client;

beforeAll(async () => {
  service = await startService();
  tenant = await service.tenant();
  proxy = await startProxy(service.api.url);
  client = createClient({ baseUrl: proxy.url, key: tenant.key });
});

afterAll(async () => {
  await proxy?.close();
  await service?.close();
});

const made = (reference: unknown) =>
  service.deps.database.db
    .collection('transfers')
    .countDocuments({ tenant_id: tenant.id, reference });

const caught = (call: Promise<unknown>): Promise<BursarError> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) =>
      error instanceof BursarError ? error : Promise.reject(new Error('another', { cause: error })),
  );

test('after a lost answer the client repeats the request under the same key: one transfer, replayed', async () => {
  proxy.failNext('lose');
  const body = transferBody();
  const { data, replayed, idempotencyKey } = await client.createTransfer(body);
  expect(replayed).toBe(true);
  expect(proxy.attempts.map(({ key }) => key)).toEqual([idempotencyKey, idempotencyKey]);
  expect(await made(body.reference)).toBe(1);
  expect((await tenant.get(data.id)).reference).toBe(body.reference);
});

test('every call of the client has a new idempotency key, unless it names one', async () => {
  const [one, other] = [
    await client.createTransfer(transferBody()),
    await client.createTransfer(transferBody()),
  ];
  expect(one.idempotencyKey).not.toBe(other.idempotencyKey);
  const body = transferBody();
  const first = await client.createTransfer(body, { idempotencyKey: 'named' });
  const again = await client.createTransfer(body, { idempotencyKey: 'named' });
  expect([first.replayed, again.replayed]).toEqual([false, true]);
  expect(again.data).toEqual(first.data);
});

test('the client retries after 502, 429, a missing answer, 500 and 503', async () => {
  proxy.failNext({ status: 502 }, { status: 429, headers: { 'retry-after': '1' } }, 'hang');
  const body = transferBody();
  const { replayed } = await client.createTransfer(body, { timeoutMs: 5_000 });
  expect(replayed).toBe(false);
  expect(proxy.attempts).toHaveLength(4);
  expect(new Set(proxy.attempts.map(({ key }) => key)).size).toBe(1);
  expect(await made(body.reference)).toBe(1);
  proxy.failNext({ status: 500 }, { status: 503 });
  expect((await client.listTransfers({ limit: 1 })).data).toHaveLength(1);
  expect(proxy.attempts).toHaveLength(3);
});

test('an outcome that stays unknown is reported as unknown, with the idempotency key', async () => {
  proxy.failNext('lose', 'lose');
  const body = transferBody();
  const error = await caught(client.createTransfer(body, { maxRetries: 1 }));
  expect(error).toMatchObject({ code: 'no_answer', status: null, outcomeUnknown: true });
  expect(error.message).toContain('idempotencyKey is safe');
  const idempotencyKey = String(error.idempotencyKey);
  const found = await client.createTransfer(body, { idempotencyKey });
  expect(found.replayed).toBe(true);
  expect(await made(body.reference)).toBe(1);
  // A refused last attempt does not prove that earlier ones failed; a read has no outcome.
  proxy.failNext('lose', { status: 429 });
  expect(await caught(client.createTransfer(transferBody(), { maxRetries: 1 }))).toMatchObject({
    status: 429,
    outcomeUnknown: true,
  });
  proxy.failNext('lose');
  expect(await caught(client.getTransfer({ id: found.data.id }, { maxRetries: 0 }))).toMatchObject({
    outcomeUnknown: false,
    idempotencyKey: null,
  });
});

test('the client does not retry after a refusal, a long Retry-After, or a redirect', async () => {
  proxy.failNext();
  await caught(client.createTransfer(transferBody('003')));
  expect(proxy.attempts).toHaveLength(1);
  proxy.failNext({ status: 429, headers: { 'retry-after': '61' } });
  expect(await caught(client.listBanks())).toMatchObject({ retryAfterSeconds: 61 });
  expect(proxy.attempts).toHaveLength(1);
  proxy.failNext({ status: 307, headers: { location: `${proxy.url}/elsewhere` } });
  await client.listBanks();
  expect(proxy.attempts.map(({ path }) => path)).not.toContain('/elsewhere');
});

test('a POST without an idempotency key is retried only after a 429', async () => {
  const attempt = () =>
    send(globalThis.fetch, {
      url: `${proxy.url}/api/v1/transfers`,
      method: 'POST',
      headers: new Headers({
        authorization: `Bearer ${tenant.key}`,
        'content-type': 'application/json',
      }),
      body: JSON.stringify(transferBody()),
      safe: false,
      repeatable: false,
      idempotencyKey: null,
      signal: undefined,
      timeoutMs: 10_000,
      maxRetries: 3,
    });
  proxy.failNext({ status: 429 });
  await attempt();
  expect(proxy.attempts).toHaveLength(2);
  for (const fault of ['lose', { status: 503 }] as const) {
    proxy.failNext(fault);
    expect(await caught(attempt())).toMatchObject({ outcomeUnknown: true, idempotencyKey: null });
    expect(proxy.attempts).toHaveLength(1);
  }
});

test('a call can be aborted before it is sent, while it waits for its answer, and between attempts', async () => {
  proxy.failNext();
  const before = await caught(
    client.createTransfer(transferBody(), { signal: AbortSignal.abort() }),
  );
  expect(before).toMatchObject({ code: 'aborted', outcomeUnknown: false });
  expect(proxy.attempts).toEqual([]);

  for (const fault of ['hang', { status: 503, headers: { 'retry-after': '60' } }] as const) {
    proxy.failNext(fault);
    const abort = new AbortController();
    const call = caught(client.createTransfer(transferBody(), { signal: abort.signal }));
    while (proxy.attempts.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    abort.abort();
    expect(await call).toMatchObject({
      code: 'aborted',
      outcomeUnknown: true,
      idempotencyKey: proxy.attempts[0]?.key,
    });
    expect(proxy.attempts).toHaveLength(1);
  }
});

test('although the API is killed in between, every call of the client is answered and carried out once', async () => {
  let [answered, broken] = [0, 0];
  const patient = createClient({
    baseUrl: service.api.url,
    key: tenant.key,
    maxRetries: 20,
    fetch: async (...request) => {
      try {
        const answer = await fetch(...request);
        answered += 1;
        if (answered === 10) await service.api.kill();
        return answer;
      } catch (error) {
        broken += 1;
        throw error;
      }
    },
  });
  const bodies = Array.from({ length: 40 }, () => transferBody());
  // Ten at a time, because one commit might answer all of them before the API can be killed.
  const tens = Array.from({ length: 10 }, (_, first) => bodies.filter((__, i) => i % 10 === first));
  const calls = Promise.all(
    tens.map(async (few) => {
      const created = [];
      for (const body of few) created.push(await patient.createTransfer(body));
      return created;
    }),
  ).then((all) => all.flat());
  while (service.api.isRunning()) await new Promise((resolve) => setTimeout(resolve, 20));
  await service.api.start();
  const ids = (await calls).map(({ data }) => data.id);
  expect(broken).toBeGreaterThan(0);
  expect(new Set(ids).size).toBe(bodies.length);
  expect(await made({ $in: bodies.map(({ reference }) => reference) })).toBe(bodies.length);
});

test('afterwards the ledger balances and agrees with the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
