import { startSandboxBank, type RunningSandboxBank } from '../../sandbox-bank/server.js';
import {
  bankClient,
  removeFolder,
  SECRET,
  startReceiver,
  staysSilent,
  temporaryFolder,
  type BankClient,
} from './support.js';

let folder: string;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let refusals: number;
let bank: RunningSandboxBank;
let client: BankClient;

beforeAll(async () => {
  folder = temporaryFolder();
  receiver = await startReceiver(() => (refusals-- > 0 ? 503 : 204));
  bank = await startSandboxBank({ dataDir: folder, secret: SECRET, callbackUrl: receiver.url });
  client = bankClient(bank.url);
});

beforeEach(async () => {
  refusals = 0;
  await client.faults({});
});

afterAll(async () => {
  await bank.close();
  await receiver.close();
  removeFolder(folder);
});

const always = (kind: string, call = 'submit') => ({
  seed: 1,
  rules: [{ call, kind, probability: 1 }],
});

const outcomeOf = (submit: Promise<{ status: number }>) =>
  submit.then(
    ({ status }) => status,
    () => 'reset' as const,
  );

test('the same seed gives the same sequence of faults, another seed another', async () => {
  const rules = [
    { call: 'submit', kind: 'error_500', probability: 0.3 },
    { call: 'any', kind: 'throttle', probability: 0.3 },
  ];
  const sequence = async (seed: number | string) => {
    await client.faults({ seed, rules });
    const statuses: number[] = [];
    for (let i = 0; i < 40; i += 1) {
      statuses.push((await client.submit(client.transferRequest('789'))).status);
    }
    return statuses;
  };
  const first = await sequence(7);
  expect(new Set(first)).toEqual(new Set([201, 429, 500]));
  expect(await sequence(7)).toEqual(first);
  expect(await sequence('another')).not.toEqual(first);
});

test.each([
  ['error_500', 500],
  ['throttle', 429],
  ['drop_before', 'reset'],
])('%s: nothing is done', async (kind, expected) => {
  await client.faults(always(kind));
  const request = client.transferRequest('789');
  expect(await outcomeOf(client.submit(request))).toBe(expected);
  expect(await client.journal(request.reference)).toEqual([]);
});

test('hang: no answer and nothing done', async () => {
  await client.faults(always('hang'));
  const request = client.transferRequest('789');
  expect(await staysSilent((init) => client.submit(request, init))).toBe(true);
  expect(await client.journal(request.reference)).toEqual([]);
});

test('drop_after: paid, and the connection is reset before the answer', async () => {
  await client.faults(always('drop_after'));
  const request = client.transferRequest('789');
  expect(await outcomeOf(client.submit(request))).toBe('reset');
  expect(await client.journal(request.reference)).toHaveLength(1);
});

test('slow: paid, after the pause', async () => {
  await client.faults({
    seed: 1,
    rules: [{ call: 'submit', kind: 'slow', probability: 1, ms: 300 }],
  });
  const request = client.transferRequest('789');
  expect(await staysSilent((init) => client.submit(request, init), 100)).toBe(true);
  expect((await client.submit(request)).body.status).toBe('paid');
});

test('a rule touches its own call only, and {} clears all', async () => {
  await client.faults(always('error_500', 'lookup'));
  const request = client.transferRequest('789');
  expect((await client.submit(request)).status).toBe(201);
  expect((await client.lookup(request.reference)).status).toBe(500);
  expect((await client.call('/_sandbox/faults')).body).toMatchObject(always('error_500', 'lookup'));
  await client.faults({});
  expect((await client.lookup(request.reference)).status).toBe(200);
});

test('callbacks are sent again until a 2xx, each time with a signature of its own', async () => {
  refusals = 2;
  const request = client.transferRequest('006');
  await client.submit(request);
  await client.reportOutcome(request.reference, 'paid');
  const tries = await receiver.wait(request.reference, 3);
  expect(new Set(tries.map(({ body }) => body.id)).size).toBe(1);
  const stamps = tries.map(({ headers }) => headers['x-sandbox-bank-timestamp']);
  expect(new Set(stamps).size).toBeGreaterThan(1);
  expect(receiver.about(request.reference)).toHaveLength(3);
});

test('001 is read as pending until its callback was accepted', async () => {
  refusals = 2;
  const request = client.transferRequest('001');
  await client.submit(request);
  await receiver.wait(request.reference, 1);
  expect((await client.lookup(request.reference)).body.status).toBe('pending');
  expect(await client.journal(request.reference)).toHaveLength(1);
  await receiver.wait(request.reference, 3);
});

test('a lost callback comes later, and one whose answer is lost comes twice', async () => {
  for (const [kind, received] of [
    ['drop_before', 1],
    ['drop_after', 2],
  ] as const) {
    await client.faults({ seed: 1, rules: [{ call: 'callback', kind, probability: 1 }] });
    const request = client.transferRequest('006');
    await client.submit(request);
    await client.reportOutcome(request.reference, 'failed');
    if (kind === 'drop_after') await receiver.wait(request.reference, 1);
    else await new Promise((resolve) => setTimeout(resolve, 200));
    await client.faults({});
    expect(await receiver.wait(request.reference, received)).toHaveLength(received);
  }
});
