import { startSandboxBank, type RunningSandboxBank } from '../../sandbox-bank/server.js';
import {
  bankClient,
  removeFolder,
  SECRET,
  temporaryFolder,
  type BankClient,
  type TransferBody,
} from './support.js';

let folder: string;
let bank: RunningSandboxBank;
let client: BankClient;

beforeAll(async () => {
  folder = temporaryFolder();
  bank = await startSandboxBank({ dataDir: folder, secret: SECRET });
  client = bankClient(bank.url);
});

afterAll(async () => {
  await bank.close();
  removeFolder(folder);
});

test.each([
  ['amount_minor', 0],
  ['amount_minor', -5],
  ['amount_minor', 1.5],
  ['amount_minor', '150000'],
  ['amount_minor', 2 ** 53],
  ['amount_minor', null],
  ['currency', 'USD'],
  ['account', '012345678'],
  ['account', '01234567890'],
  ['account', '٠١٢٣٤٥٦٧٨٩'],
  ['account', 123_456_789],
  ['bank_code', '58'],
  ['bank_code', 'GTB'],
  ['reference', ''],
  ['reference', 'a/b'],
  ['reference', 'a'.repeat(101)],
  ['client_reference', undefined],
  ['narration', 'n'.repeat(101)],
  ['requested_at', 'yesterday'],
  ['requested_at', 1_700_000_000_000],
  ['extra', true],
])('a request whose %s is %j is refused, naming the field', async (field, value) => {
  const request = client.transferRequest('789', { [field]: value });
  const { status, body } = await client.submit(request);
  expect([status, body.error?.code, body.error?.field]).toEqual([400, 'invalid_request', field]);
  const { body: all } = await client.call<{ entries: unknown[] }>('/_sandbox/journal');
  expect(all.entries).toEqual([]);
});

test.each([
  ['cut off', '{"reference":', 400],
  ['a list', '[]', 400],
  ['null', 'null', 400],
  ['empty', '', 400],
  ['not an object', '"text"', 400],
  ['too long', `{"narration":"${'n'.repeat(70_000)}"}`, 413],
])('a body that is %s is refused', async (_what, body, status) => {
  expect((await client.call('/v1/transfers', { method: 'POST', body })).status).toBe(status);
});

test('a __proto__ key is an unknown field like any other', async () => {
  const request = JSON.stringify(client.transferRequest('789')).replace(
    '{',
    '{"__proto__":{"a":1},',
  );
  const answer = await client.call<TransferBody>('/v1/transfers', {
    method: 'POST',
    body: request,
  });
  expect(answer.status).toBe(400);
});

test('only JSON is read, and only with the secret', async () => {
  const body = JSON.stringify(client.transferRequest('789'));
  const post = (headers: Record<string, string>) =>
    client.call('/v1/transfers', { method: 'POST', body, headers });
  expect((await post({ 'content-type': 'text/plain' })).status).toBe(415);
  for (const authorization of ['', 'Bearer ', `Bearer ${SECRET}x`, SECRET]) {
    expect((await post({ authorization })).status).toBe(401);
  }
  expect((await client.call('/v1/banks', { headers: { authorization: 'x' } })).status).toBe(401);
});

test('unknown routes, methods and parameters get different errors', async () => {
  const statusOf = async (path: string, method = 'GET') =>
    (await client.call(path, { method })).status;
  expect(await statusOf('/nothing')).toBe(404);
  expect(await statusOf('/_sandbox/nothing', 'POST')).toBe(404);
  expect(await statusOf('/v1/transfers/')).toBe(404);
  expect(await statusOf('/v1/transfers/%E0%A4%A')).toBe(400);
  const wrongMethod = await client.call('/v1/transfers', { method: 'DELETE' });
  expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'POST, GET']);
  expect(await statusOf('/_sandbox/journal?refrence=x')).toBe(400);
  expect(await statusOf('/_sandbox/journal?after=x')).toBe(400);
});

test('a fault setting that is not understood changes nothing', async () => {
  const setting = { seed: 1, rules: [{ call: 'lookup', kind: 'slow', probability: 0, ms: 5 }] };
  await client.faults(setting);
  for (const wrong of [
    { seed: 1 },
    { seed: 1, rules: [{ call: 'lookup', kind: 'explode', probability: 0.1 }] },
    { seed: 1, rules: [{ call: 'lookup', kind: 'hang', probability: 2 }] },
  ]) {
    expect((await client.faults(wrong)).status).toBe(400);
  }
  expect((await client.call('/_sandbox/faults')).body).toEqual(setting);
  await client.faults({});
});

test('the audit routes are open, and the journal can be read on from where one was', async () => {
  const requests = [
    client.transferRequest('789'),
    client.transferRequest('789', { client_reference: 'mine' }),
  ];
  for (const request of requests) await client.submit(request);
  const read = async (query: string) => {
    const response = await fetch(`${bank.url}/_sandbox/journal${query}`);
    const { entries } = (await response.json()) as { entries: { reference: string }[] };
    return entries.map((entry) => requests.findIndex((o) => o.reference === entry.reference));
  };
  expect(await read('')).toEqual([0, 1]);
  expect(await read('?after=1')).toEqual([1]);
  expect(await read('?limit=1')).toEqual([0]);
  expect(await read('?client_reference=mine')).toEqual([1]);
  const health = await fetch(`${bank.url}/_sandbox/health`);
  expect(await health.json()).toMatchObject({ ok: true, deduplicate: true, last_seq: 2 });
});
