import { startService, type Service } from '../support/service.js';
import { transferBody, type Reply, type TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({ oneProcess: true });
  tenant = await service.tenant();
});

afterAll(async () => {
  await service?.close();
});

const parse = (reply: Reply) => JSON.parse(reply.text);

describe('GET /transfers/banks', () => {
  const banks = (query = '') => tenant.call('GET', `/transfers/banks${query}`, undefined);

  test('the bank list is 503 until it was received once; afterwards it is served even while the provider is unavailable', async () => {
    await service.bank.kill();
    const none = await banks();
    expect([none.status, none.body.error.code]).toEqual([503, 'service_unavailable']);
    expect(Number(none.headers.get('retry-after'))).toBeGreaterThan(0);

    await service.bank.start();
    const all = await banks();
    expect(all.status).toBe(200);
    await service.bank.kill();
    expect((await banks()).text).toBe(all.text);
    await service.bank.start();
  });

  test('the bank list has every bank with its name and both codes, sorted by name', async () => {
    const { success, data, pagination } = parse(await banks());
    expect(success).toBe(true);
    expect(data).toContainEqual({ code: '058', nip_code: '000013', name: 'Guaranty Trust Bank' });
    const names = data.map(({ name }: { name: string }) => name);
    expect(names).toEqual(names.toSorted((a: string, b: string) => a.localeCompare(b, 'en')));
    expect(pagination).toEqual({
      page: 1,
      limit: 100,
      total: data.length,
      pages: 1,
      has_more: false,
    });
  });

  test('the bank list has pages on request, and an empty one beyond the end', async () => {
    const { data: all } = parse(await banks());
    const second = parse(await banks('?page=2&limit=10'));
    expect(second.data).toEqual(all.slice(10, 20));
    expect(second.pagination).toMatchObject({ page: 2, limit: 10, total: all.length });
    const beyond = parse(await banks('?page=99'));
    expect(beyond.data).toEqual([]);
    expect(beyond.pagination).toMatchObject({ page: 99, total: all.length, has_more: false });
    const bad = await banks('?limit=101');
    expect([bad.status, bad.body.error.field]).toEqual([400, 'limit']);
  });
});

describe('POST /transfers/resolve-account', () => {
  const resolve = (body: Record<string, unknown>) =>
    tenant.call('POST', '/transfers/resolve-account', JSON.stringify(body));
  const to = (suffix: string) => ({
    recipient_account: `0123456${suffix}`,
    recipient_bank_code: '058',
  });

  test('resolve-account returns the account holder as a transfer does, with either set of field names', async () => {
    const reply = await resolve(to('789'));
    expect(reply.status).toBe(200);
    expect(parse(reply)).toEqual({
      success: true,
      data: {
        recipient_account: '0123456789',
        recipient_name: expect.stringMatching(/^[A-Z]+ [A-Z]+$/) as string,
        recipient_bank: 'Guaranty Trust Bank',
        recipient_bank_code: '058',
      },
    });
    const older = { destination_account_number: '0123456789', destination_bank_code: '058' };
    expect((await resolve(older)).text).toBe(reply.text);
    const made = await tenant.transfer(transferBody());
    expect(made.body.data).toMatchObject(parse(reply).data);
  });

  test('resolve-account returns the same holder for the interbank code', async () => {
    const names = [to('789'), { ...to('789'), recipient_bank_code: '000013' }].map(resolve);
    const [one, other] = (await Promise.all(names)).map((reply) => parse(reply).data);
    expect(other.recipient_name).toBe(one.recipient_name);
  });

  test('resolve-account answers 422 invalid_account for an unknown account or bank', async () => {
    for (const body of [to('003'), { ...to('789'), recipient_bank_code: '999' }]) {
      const reply = await resolve(body);
      expect([reply.status, reply.body.error.code]).toEqual([422, 'invalid_account']);
    }
  });

  test('resolve-account answers 503 with Retry-After if the bank does not answer', async () => {
    const reply = await resolve(to('011'));
    expect([reply.status, reply.body.error.code]).toEqual([503, 'service_unavailable']);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test.each<[field: string, body: Record<string, unknown>]>([
    ['recipient_account', {}],
    ['recipient_bank_code', { recipient_account: '0123456789' }],
    ['recipient_account', { ...to('789'), recipient_account: 123_456_789 }],
    ['recipient_account', { ...to('789'), recipient_account: '012345678' }],
    ['recipient_bank_code', { ...to('789'), recipient_bank_code: 'GTB' }],
    ['destination_bank_code', { ...to('789'), destination_bank_code: '058' }],
    ['amount_minor', { ...to('789'), amount_minor: 1 }],
  ])('resolve-account answers 400 for %s: %j', async (field, body) => {
    const reply = await resolve(body);
    expect([reply.status, reply.body.error.field]).toEqual([400, field]);
  });

  test('resolve-account stores nothing, and a read key may not use it', async () => {
    const before = await tenant.balance();
    await resolve(to('789'));
    expect(await tenant.balance()).toEqual(before);
    const { key } = await service.deps.apiKeys.create({
      tenantId: tenant.id,
      level: 'read',
      kind: 'secret',
    });
    const headers = { authorization: `Bearer ${key}` };
    const reply = await tenant.call(
      'POST',
      '/transfers/resolve-account',
      JSON.stringify(to('789')),
      {
        headers,
      },
    );
    expect(reply.status).toBe(403);
  });
});

describe('GET /transfers/{id}/timeline', () => {
  const timeline = (of: TestTenant, id: string, query = '') =>
    of.call('GET', `/transfers/${id}/timeline${query}`, undefined);

  test('the timeline has every step in order, with time, actor and provider trace, and nothing else', async () => {
    const id = await tenant.send('004');
    await tenant.waitFor(id, 'completed');
    const { data, pagination } = parse(await timeline(tenant, id));
    for (const step of data) {
      expect(step).toEqual({
        at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        type: expect.any(String) as string,
        actor: expect.any(String) as string,
        detail: step.detail === null ? null : (expect.any(String) as string),
        provider_request_id:
          step.provider_request_id === null ? null : (expect.any(String) as string),
      });
    }
    const types = data.map(({ type }: { type: string }) => type);
    // A slow machine may poll more than once.
    expect([...new Set(types)]).toEqual([
      'accepted',
      'submitted',
      'provider_answer',
      'poll',
      'captured',
    ]);
    expect(data.at(-2)).toMatchObject({
      actor: 'sandbox-bank',
      detail: 'succeeded',
      provider_request_id: expect.stringMatching(/^sbr_/) as string,
    });
    const times = data.map(({ at }: { at: string }) => at);
    expect(times).toEqual(times.toSorted());
    expect(pagination).toMatchObject({ page: 1, total: data.length, has_more: false });
    const { data: one } = parse(await timeline(tenant, id, '?page=2&limit=1'));
    expect(one).toEqual([data[1]]);
  });

  test('the timeline is 404 for an unknown transfer and for another tenant’s', async () => {
    const other = await service.tenant();
    const id = await other.send();
    for (const unknown of [id, 'trf_01m7yr04qfeh29r645zf36b5fg', 'nothing']) {
      const reply = await timeline(tenant, unknown);
      expect([reply.status, reply.body.error.code]).toEqual([404, 'not_found']);
    }
    expect((await timeline(other, id)).status).toBe(200);
  });
});

test('the logs contain no account number and no name', async () => {
  await service.allEnded();
  expect(service.logs()).not.toMatch(/0123456\d{3}/);
  expect(await service.problems()).toEqual([]);
});
