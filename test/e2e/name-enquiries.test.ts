import { eventually } from '../support/eventually.js';
import { bulkClient } from '../support/bulk.js';
import { shareService, type Service } from '../support/service.js';
import { ORDER_TOTAL_MINOR, transferBody, type TestTenant } from '../support/tenant.js';

/** Far more attempts than the limit of each tenant here, so that the end of a window does not matter. */
const ATTEMPTS = 12;
const LIMIT = 3;

let service: Service;

beforeAll(async () => {
  service = await shareService();
});

afterAll(async () => {
  await service?.close();
});

async function limitedTenant(balanceMinor?: number): Promise<TestTenant> {
  const tenant = await service.tenant(balanceMinor === undefined ? {} : { balanceMinor });
  await service.deps.tenants.update(tenant.id, { safeguards: { name_enquiry: LIMIT } });
  return tenant;
}

const resolve = (tenant: TestTenant, suffix: string) =>
  tenant.call(
    'POST',
    '/transfers/resolve-account',
    JSON.stringify({ recipient_account: `0123456${suffix}`, recipient_bank_code: '058' }),
  );

type Item = { error?: { code: string; details?: Record<string, unknown> } };

/** Sends a bulk transfer, and returns the code of each item, or null for an accepted one. */
async function codesOf(tenant: TestTenant, suffix: string, count = ATTEMPTS) {
  const bodies = Array.from({ length: count }, () => transferBody(suffix));
  const { status, headers, body } = await bulkClient(tenant).send(bodies);
  expect(status).toBe(201);
  const items = body.data.items as Item[];
  return { items, headers, codes: items.map(({ error }) => error?.code ?? null) };
}

test('resolve-account answers for as many accounts as the safeguard allows, and then refuses with limit and headers', async () => {
  const tenant = await limitedTenant();
  const replies = [];
  for (let i = 0; i < ATTEMPTS; i += 1) replies.push(await resolve(tenant, '789'));
  const refused = replies.find(({ status }) => status === 429);
  expect(refused?.body.error).toMatchObject({
    code: 'rate_limit_exceeded',
    details: { limit: LIMIT, window: '1m' },
  });
  expect(refused?.headers.get('x-ratelimit-limit')).toBe(String(LIMIT));
  expect(refused?.headers.get('x-ratelimit-remaining')).toBe('0');
  expect(refused?.headers.get('retry-after')).not.toBeNull();
});

/** The codes of one transfer after another, null for an accepted one. */
async function codesOneByOne(
  tenant: TestTenant,
  body: () => Record<string, unknown>,
): Promise<(string | null)[]> {
  const codes = [];
  for (let i = 0; i < ATTEMPTS; i += 1) {
    codes.push((await tenant.transfer(body())).body.error?.code ?? null);
  }
  return codes;
}

/** Uses the limit up. */
async function useUp(tenant: TestTenant): Promise<void> {
  for (let status = 200; status !== 429;) ({ status } = await resolve(tenant, '789'));
}

/** Expects that the tenant has asked for no account so far: the whole limit is left. */
async function expectNothingCounted(tenant: TestTenant): Promise<void> {
  const statuses = [];
  for (let i = 0; i < LIMIT; i += 1) statuses.push((await resolve(tenant, '789')).status);
  expect(statuses).toEqual(Array.from({ length: LIMIT }, () => 200));
}

test('a limit that is used up stops no transfer: it is accepted with the name of the bank, and gets the recipient’s name afterwards', async () => {
  const tenant = await limitedTenant();
  await useUp(tenant);
  const { status, headers, body } = await tenant.transfer(transferBody('789'));
  expect([status, body.data]).toEqual([
    201,
    expect.objectContaining({ recipient_name: null, recipient_bank: expect.any(String) }),
  ]);
  expect(Number(headers.get('x-ratelimit-limit'))).toBeGreaterThan(LIMIT);
  expect(await tenant.waitFor(body.data.id, 'completed')).toMatchObject({
    recipient_name: expect.any(String),
  });
  const { codes } = await codesOf(tenant, '789');
  expect(new Set(codes)).toEqual(new Set([null]));
});

test('without an answer to the name enquiry the bank has its name by either code, and none by a code of no bank', async () => {
  const tenant = await limitedTenant();
  const accepted = async (code: string) => {
    const reply = await tenant.transfer({ ...transferBody('011'), recipient_bank_code: code });
    return [reply.status, reply.body.data.recipient_bank];
  };
  expect(await accepted('058')).toEqual([201, 'Guaranty Trust Bank']);
  expect(await accepted('000013')).toEqual([201, 'Guaranty Trust Bank']);
  await useUp(tenant);
  const other = { ...transferBody('789'), recipient_bank_code: '000013' };
  const reply = await tenant.transfer(other);
  expect(reply.body.data).toMatchObject({
    recipient_name: null,
    recipient_bank: 'Guaranty Trust Bank',
  });
  expect(await accepted('999')).toEqual([201, null]);
});

test('an account that does not exist is refused as often as the limit allows; later ones are accepted, and fail', async () => {
  const tenant = await limitedTenant();
  const codes = await codesOneByOne(tenant, () => transferBody('003'));
  expect(new Set(codes)).toEqual(new Set(['invalid_account', null]));
  const { status, body } = await tenant.transfer(transferBody('003'));
  expect(status).toBe(201);
  expect(await tenant.waitFor(body.data.id, 'failed')).toMatchObject({
    failure: { code: 'invalid_account' },
  });
});

test('in bulk each unknown account counts, and an item beyond the limit is accepted without a name', async () => {
  const tenant = await limitedTenant();
  const codes = new Set<string | null>();
  // A count that takes too long lets its requests pass.
  const headers = await eventually('both are seen', async () => {
    const sent = await codesOf(tenant, '003');
    for (const code of sent.codes) codes.add(code);
    return codes.size === 2 ? sent.headers : undefined;
  });
  expect(codes).toEqual(new Set(['invalid_account', null]));
  expect(Number(headers.get('x-ratelimit-limit'))).toBeGreaterThan(LIMIT);
});

test('accepted transfers do not count', async () => {
  const tenant = await limitedTenant();
  const accepted = Array.from({ length: ATTEMPTS }, () => null);
  expect(await codesOneByOne(tenant, () => transferBody('789'))).toEqual(accepted);
  expect((await codesOf(tenant, '789')).codes).toEqual(accepted);
  await expectNothingCounted(tenant);
});

type Refused = [TestTenant, () => Record<string, unknown>];

const REFUSED_ANYWAY: [string, string, () => Promise<Refused>][] = [
  [
    'a wallet without money',
    'insufficient_balance',
    async () => [await limitedTenant(0), () => transferBody('003')],
  ],
  [
    'a reference that is taken',
    'duplicate_reference',
    async () => {
      const tenant = await limitedTenant();
      const reference = 'order 1';
      await tenant.transfer({ ...transferBody('789'), reference });
      return [tenant, () => ({ ...transferBody('003'), reference })];
    },
  ],
  [
    'a daily limit that has passed',
    'limit_exceeded',
    async () => {
      const tenant = await limitedTenant();
      await service.deps.tenants.update(tenant.id, { dailyLimitMinor: 1n });
      return [tenant, () => transferBody('003')];
    },
  ],
];

test.each(REFUSED_ANYWAY)(
  '%s causes no name enquiry in bulk, and one at most in single transfers: nobody learns which accounts exist by transfers that are refused anyway',
  async (_, code, make) => {
    const [tenant, body] = await make();
    const refused = Array.from({ length: ATTEMPTS }, () => code);
    const bulk = await bulkClient(tenant).send(Array.from({ length: ATTEMPTS }, body));
    expect((bulk.body.data.items as Item[]).map(({ error }) => error?.code)).toEqual(refused);
    await expectNothingCounted(tenant);

    const [prober, probe] = await make();
    const [first, ...later] = await codesOneByOne(prober, probe);
    expect(first).toBe('invalid_account');
    expect(later).toEqual(refused.slice(1));
  },
);

test('a bulk transfer with one reference for all, or with the balance for one, shows one account', async () => {
  const unknown = transferBody('003');
  const repeats = await limitedTenant();
  const items = Array.from({ length: ATTEMPTS }, () => ({ ...unknown, reference: 'order 1' }));
  const { body } = await bulkClient(repeats).send(items);
  const codes = (body.data.items as Item[]).map(({ error }) => error?.code ?? null);
  expect(codes.filter((code) => code === 'invalid_account')).toHaveLength(1);

  const poor = await limitedTenant(ORDER_TOTAL_MINOR);
  const answers = (await codesOf(poor, '003')).codes;
  expect(answers.filter((code) => code === 'invalid_account')).toHaveLength(1);
  expect(answers.filter((code) => code === 'insufficient_balance').length).toBeGreaterThan(1);
});
