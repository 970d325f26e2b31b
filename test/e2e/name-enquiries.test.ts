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

test('unknown accounts count for a single transfer, and known ones that lead to no transfer', async () => {
  const guesser = await limitedTenant();
  const codes = [];
  for (let i = 0; i < ATTEMPTS; i += 1) {
    codes.push((await guesser.transfer(transferBody('003'))).body.error?.code);
  }
  expect(new Set(codes)).toEqual(new Set(['invalid_account', 'rate_limit_exceeded']));

  const poor = await limitedTenant(0);
  const answers = [];
  for (let i = 0; i < ATTEMPTS; i += 1) {
    answers.push((await poor.transfer(transferBody('789'))).body.error?.code);
  }
  expect(new Set(answers)).toEqual(new Set(['insufficient_balance', 'rate_limit_exceeded']));
});

test('accepted transfers do not count', async () => {
  const tenant = await limitedTenant();
  for (let i = 0; i < ATTEMPTS; i += 1) {
    expect((await tenant.transfer(transferBody('789'))).status).toBe(201);
  }
  expect((await codesOf(tenant, '789')).codes).toEqual(
    Array.from({ length: ATTEMPTS }, () => null),
  );
});

test('in bulk each unknown account counts, and an item beyond the safeguard is refused with the limit', async () => {
  const tenant = await limitedTenant();
  const { codes, items, headers } = await codesOf(tenant, '003');
  expect(new Set(codes)).toEqual(new Set(['invalid_account', 'rate_limit_exceeded']));
  const refused = items.find(({ error }) => error?.code === 'rate_limit_exceeded');
  expect(refused?.error?.details).toMatchObject({ limit: LIMIT, window: '1m' });
  expect(headers.get('x-ratelimit-remaining')).toBe('0');
});

test('a wallet without money causes no name enquiry in bulk', async () => {
  const tenant = await limitedTenant(0);
  const { codes } = await codesOf(tenant, '003');
  expect(new Set(codes)).toEqual(new Set(['insufficient_balance']));
  expect((await resolve(tenant, '789')).status).toBe(200);
});

test('the balance for one transfer does not show which of many accounts exist', async () => {
  const tenant = await limitedTenant(ORDER_TOTAL_MINOR);
  const { codes } = await codesOf(tenant, '789', 10 * ATTEMPTS);
  expect(codes.filter((code) => code === null)).toHaveLength(1);
  const later = [];
  for (let i = 0; i < ATTEMPTS; i += 1) later.push((await resolve(tenant, '789')).status);
  expect(later).toContain(429);
});
