import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json as jsonOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { creditWallet } from '../../src/capabilities/wallets/create.js';
import { shareService, type Service } from '../support/service.js';
import {
  apiClient,
  transferBody,
  ORDER_TOTAL_MINOR,
  type Reply,
  type TestTenant,
} from '../support/tenant.js';

let service: Service;

beforeAll(async () => {
  service = await shareService();
});

afterAll(async () => {
  await service?.close();
});

const transfersOf = ({ id }: TestTenant) =>
  service.deps.database.db.collection('transfers').countDocuments({ tenant_id: id });

const codes = (replies: Reply[]) => replies.map(({ body }) => body.error?.code ?? 'accepted');

test('50 concurrent POSTs with one idempotency key create one transfer and get 50 equal answers', async () => {
  const tenant = await service.tenant({ balanceMinor: 1_000_000 });
  const body = transferBody();
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => tenant.transfer(body, { key: 'one and the same' })),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  const replayed = replies.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
  expect(replayed).toHaveLength(49);
  expect(await transfersOf(tenant)).toBe(1);

  // After the transfer has completed, a repeat still gets the first answer.
  const id = String(replies[0]?.body.data.id);
  await tenant.waitFor(id, 'completed');
  const late = await tenant.transfer(body, { key: 'one and the same' });
  expect([late.status, late.text]).toEqual([201, replies[0]?.text]);
  expect(late.headers.get('location')).toBe(`/api/v1/transfers/${id}`);
  expect(await service.bank.journal(id)).toHaveLength(1);
  expect((await tenant.balance()).available).toBe(1_000_000 - ORDER_TOTAL_MINOR);
});

test('50 concurrent refused POSTs with one idempotency key get equal refusals, and the reference stays free', async () => {
  const tenant = await service.tenant({ balanceMinor: ORDER_TOTAL_MINOR - 1 });
  const body = transferBody();
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => tenant.transfer(body, { key: 'one and the same' })),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([422]));
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  expect(replies[0]?.body.error).toMatchObject({
    code: 'insufficient_balance',
    details: { required: ORDER_TOTAL_MINOR, available: ORDER_TOTAL_MINOR - 1 },
  });
  expect(await transfersOf(tenant)).toBe(0);

  // A refusal is saved: a repeat gets it even when the wallet could pay. Its reference stays free.
  const credit = { tenantId: tenant.id, amountMinor: 1n, reference: 'the missing kobo' };
  await creditWallet(service.deps.groupCommit, credit);
  const late = await tenant.transfer(body, { key: 'one and the same' });
  expect([late.status, late.text]).toEqual([422, replies[0]?.text]);
  expect(late.headers.get('idempotent-replayed')).toBe('true');
  const paid = await tenant.transfer(body, { key: 'another' });
  expect([paid.status, paid.body.data.reference]).toEqual([201, body.reference]);
});

test('of 200 concurrent transfers on a wallet that covers 50, exactly 50 are accepted', async () => {
  const tenant = await service.tenant({ balanceMinor: 50 * ORDER_TOTAL_MINOR });
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, i) => tenant.transfer(transferBody(), { key: `of 200: ${i}` })),
  );
  const count = (code: string) => codes(replies).filter((each) => each === code).length;
  expect([count('accepted'), count('insufficient_balance')]).toEqual([50, 150]);
  const refusals = replies.filter(({ status }) => status === 422);
  expect(Math.min(...refusals.map(({ body }) => Number(body.error.details?.available)))).toBe(0);

  const accepted = replies.flatMap(({ body }) => (body.success ? [body.data.id] : []));
  for (const id of accepted) await tenant.waitFor(id, 'completed');
  expect(await tenant.balance()).toEqual({ available: 0, held: 0 });
});

test('one idempotency key with two different bodies is idempotency_key_reused, also when both arrive at once', async () => {
  const tenant = await service.tenant();
  const key = 'used twice';
  const replies = await Promise.all([
    tenant.transfer(transferBody(), { key }),
    tenant.transfer(transferBody(), { key }),
  ]);
  expect(codes(replies).toSorted()).toEqual(['accepted', 'idempotency_key_reused']);
  const later = await tenant.transfer(transferBody(), { key });
  expect([later.status, later.body.error.code]).toEqual([422, 'idempotency_key_reused']);
  expect(await transfersOf(tenant)).toBe(1);
});

test('concurrent requests with one reference and different keys create one transfer, which the refusals name', async () => {
  const tenant = await service.tenant();
  const body = transferBody();
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, i) => tenant.transfer(body, { key: `reference ${i}` })),
  );
  const made = replies.filter(({ status }) => status === 201);
  expect(made).toHaveLength(1);
  for (const { status, body: answer } of replies.filter((reply) => reply !== made[0])) {
    expect(status).toBe(422);
    expect(answer.error).toMatchObject({
      code: 'duplicate_reference',
      field: 'reference',
      details: { id: made[0]?.body.data.id },
    });
  }
  expect(await transfersOf(tenant)).toBe(1);
});

test('an idempotency key is the same in the header, in quotes, and in the body', async () => {
  const tenant = await service.tenant();
  const body = transferBody();
  const first = await tenant.transfer(body, { key: 'abc-123' });
  const others = [
    await tenant.transfer(body, { key: '"abc-123"' }),
    await tenant.transfer({ ...body, idempotency_key: 'abc-123' }),
    await tenant.transfer({ idempotency_key: 'abc-123', ...body }, { key: 'abc-123' }),
  ];
  for (const { status, text } of others) expect([status, text]).toEqual([201, first.text]);
  const differing = await tenant.transfer(
    { ...body, idempotency_key: 'abc-124' },
    { key: 'abc-123' },
  );
  expect([differing.status, differing.body.error]).toMatchObject([
    400,
    { code: 'validation_error', field: 'idempotency_key' },
  ]);
  expect(await transfersOf(tenant)).toBe(1);
});

test('an idempotency key in two header lines, or an empty one, is refused', async () => {
  const tenant = await service.tenant();
  const send = async (keys: string[]) => {
    const headers = {
      authorization: `Bearer ${tenant.key}`,
      'content-type': 'application/json',
      'idempotency-key': keys,
    };
    const url = `${service.api.url}/api/v1/transfers`;
    // The only available client that can send a header twice.
    const sent = httpRequest(url, { method: 'POST', headers }).end(JSON.stringify(transferBody()));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const { error } = (await jsonOf(answer)) as Reply['body'];
    return { status: answer.statusCode, field: error.field };
  };
  for (const keys of [['one', 'other'], ['same', 'same'], ['']]) {
    expect(await send(keys)).toEqual({ status: 400, field: 'Idempotency-Key' });
  }
  expect(await transfersOf(tenant)).toBe(0);
});

test('a key that has lost its rights gets no saved response', async () => {
  const tenant = await service.tenant();
  const { apiKeys } = service.deps;
  const keyOf = (level: 'read' | 'write', more: { allowedIps?: string[] } = {}) =>
    apiKeys.create({ tenantId: tenant.id, level, kind: 'secret', ...more });
  const [writer, reader, elsewhere] = [
    await keyOf('write'),
    await keyOf('read'),
    await keyOf('write', { allowedIps: ['192.0.2.1'] }),
  ];
  const body = transferBody();
  const retry = (key: string) =>
    apiClient(service.api.url, key).transfer(body, { key: 'mine before' });
  expect((await retry(writer.key)).status).toBe(201);
  expect((await retry(tenant.key)).headers.get('idempotent-replayed')).toBe('true');
  await apiKeys.revoke(writer.id);
  await sleep(1_000);
  const refused = await Promise.all([writer, reader, elsewhere].map(({ key }) => retry(key)));
  expect(refused.map(({ status, body: answer }) => [status, answer.error.code])).toEqual([
    [401, 'expired_key'],
    [403, 'forbidden'],
    [403, 'ip_not_allowed'],
  ]);
  for (const { text } of refused) expect(text).not.toContain('trf_');
});

test('two tenants with the same idempotency key and reference get a transfer each, which the other cannot see', async () => {
  const [one, other] = [await service.tenant(), await service.tenant()];
  const body = transferBody();
  const replies = await Promise.all([
    one.transfer(body, { key: 'shared' }),
    other.transfer(body, { key: 'shared' }),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([201, 201]);
  const [mine, theirs] = replies.map(({ body: answer }) => answer.data.id);
  expect(mine).not.toBe(theirs);
  const foreign = await one.call('GET', `/transfers/${theirs}`, undefined);
  expect([foreign.status, foreign.body.error.code]).toEqual([404, 'not_found']);
  const list = JSON.parse((await other.call('GET', '/transfers', undefined)).text);
  expect(list.data.map(({ id }: { id: string }) => id)).toEqual([theirs]);
});

test('after 24 hours an idempotency key is free again, and its reference is not', async () => {
  const tenant = await service.tenant();
  const body = transferBody();
  const first = await tenant.transfer(body, { key: 'of yesterday' });
  const keys = service.deps.database.db.collection('idempotency_keys');
  const { expires_at: expiresAt, created_at: createdAt } = (await keys.findOne({
    tenant_id: tenant.id,
  })) as unknown as { expires_at: Date; created_at: Date };
  expect(expiresAt.getTime() - createdAt.getTime()).toBe(24 * 60 * 60 * 1000);
  await keys.updateOne({ tenant_id: tenant.id }, { $set: { expires_at: new Date() } });

  const again = await tenant.transfer(body, { key: 'of yesterday' });
  expect([again.status, again.body.error]).toMatchObject([
    422,
    { code: 'duplicate_reference', details: { id: first.body.data.id } },
  ]);
  // The refusal is saved too, under the key that was claimed again.
  const replayed = await tenant.transfer(body, { key: 'of yesterday' });
  expect([replayed.status, replayed.text]).toEqual([422, again.text]);
});

test('afterwards the ledger balances and agrees with the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
