import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { shareService, SHARED_OPTIONS, type Service } from '../support/service.js';
import {
  apiClient,
  transferBody,
  untilTaken,
  ORDER_TOTAL_MINOR,
  type TestTenant,
} from '../support/tenant.js';

/** The number of transfers that the wallet covers exactly. */
const PAYS_FOR = 40;
const LEFT_MINOR = ORDER_TOTAL_MINOR - 1;

let service: Service;

beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.twoApis);
});

afterAll(async () => {
  await service?.close();
});

/** Clients of the same tenant at both processes. */
const both = (tenant: TestTenant) => service.apis.map(({ url }) => tenant.at(url));

test('with two API processes on one wallet each transfer gets the right answer, and the balance is exact', async () => {
  const balanceMinor = PAYS_FOR * ORDER_TOTAL_MINOR + LEFT_MINOR;
  const tenant = await service.tenant({ balanceMinor });
  const replies = await Promise.all(
    Array.from({ length: 30 }, () => both(tenant))
      .flat()
      .map((at) => {
        const body = transferBody();
        return untilTaken((under) => at.transfer(body, under));
      }),
  );
  const accepted = replies.filter(({ status }) => status === 201);
  const refused = replies.filter(({ status }) => status !== 201);
  expect(accepted).toHaveLength(PAYS_FOR);
  for (const { status, body } of refused) {
    expect([status, body.error.code]).toEqual([422, 'insufficient_balance']);
  }
  expect((await tenant.balance()).available).toBe(LEFT_MINOR);

  for (const { body } of accepted) await tenant.waitFor(body.data.id, 'completed');
  expect(await tenant.balance()).toEqual({ available: LEFT_MINOR, held: 0 });
});

test('one idempotency key at two API processes at once creates one transfer with equal answers', async () => {
  const tenant = await service.tenant();
  const requests = Array.from({ length: 15 }, (_, i) => ({
    body: transferBody(),
    key: `both ${i}`,
  }));
  const pairs = await Promise.all(
    requests.map(({ body, key }) =>
      Promise.all(both(tenant).map((at) => untilTaken((under) => at.transfer(body, under), key))),
    ),
  );
  for (const [one, other] of pairs) {
    expect([one?.status, other?.status]).toEqual([201, 201]);
    expect(one?.text).toBe(other?.text);
  }
  const { db } = service.deps.database;
  expect(await db.collection('transfers').countDocuments({ tenant_id: tenant.id })).toBe(15);
});

test('one reference at two API processes at once creates one transfer, and the refusal names it', async () => {
  const tenant = await service.tenant();
  const bodies = Array.from({ length: 15 }, () => transferBody());
  for (const body of bodies) {
    const replies = await Promise.all(both(tenant).map((at) => at.transfer(body)));
    const [made, refused] = replies.toSorted((a, b) => a.status - b.status);
    expect([made?.status, refused?.status]).toEqual([201, 422]);
    expect(refused?.body.error).toMatchObject({
      code: 'duplicate_reference',
      field: 'reference',
      details: { id: made?.body.data.id },
    });
  }
});

test('a transfer accepted by one API process is visible at the other at once', async () => {
  const tenant = await service.tenant();
  const [one, other] = both(tenant);
  const reply = await one?.transfer(transferBody());
  expect((await other?.get(String(reply?.body.data.id)))?.reference).toBe(
    reply?.body.data.reference,
  );
});

test('a revoked key is refused by both API processes within a second, however busy it is', async () => {
  const tenant = await service.tenant();
  const wanted = { tenantId: tenant.id, level: 'read', kind: 'secret' } as const;
  const { id, key } = await service.deps.apiKeys.create(wanted);
  const listTransfers = async (api: (typeof service.apis)[number]) => {
    const { body } = await apiClient(api.url, key).call('GET', '/transfers', undefined);
    return body.error?.code ?? 'served';
  };
  expect(await Promise.all(service.apis.map(listTransfers))).toEqual(['served', 'served']);
  // Like the command line, this process cannot reach the memory of either API.
  await service.deps.apiKeys.revoke(id);
  const until = performance.now() + 1_000;
  // Stops after the first refusal, because an address has few requests without a valid key.
  const lastAnswer = async (api: (typeof service.apis)[number]) => {
    let answer = await listTransfers(api);
    while (answer === 'served' && performance.now() < until) answer = await listTransfers(api);
    return answer === 'served' ? listTransfers(api) : answer;
  };
  expect(await Promise.all(service.apis.map(lastAnswer))).toEqual(['expired_key', 'expired_key']);
});

test('afterwards the ledger balances and agrees with the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});

test('the least and the highest amount of a transfer that are set reach every API process, and refusals name them', async () => {
  const tenant = await service.tenant();
  const update = (line: string) => bursar(`tenants update ${tenant.id} ${line}`, service.env);
  const { code } = await update('--min-amount-minor 200000 --max-amount-minor 300000');
  expect(code).toBe(0);
  for (const at of both(tenant)) {
    const transfer = (amount_minor: number) => at.transfer(transferBody('789', { amount_minor }));
    const refusals = await eventually('the amounts are known', async () => {
      const found = [await transfer(199_999), await transfer(300_001)];
      return found.every(({ status }) => status === 400) ? found : undefined;
    });
    expect(refusals.map(({ body }) => body.error)).toMatchObject(
      [
        { code: 'validation_error', field: 'amount_minor', message: /at least 200000/ },
        { code: 'validation_error', field: 'amount_minor', message: /at most 300000/ },
      ].map(({ message, ...rest }) => ({ ...rest, message: expect.stringMatching(message) })),
    );
    for (const amount of [200_000, 300_000]) expect((await transfer(amount)).status).toBe(201);
  }
  expect(await update('--min-amount-minor 300001')).toMatchObject({
    code: 1,
    error: expect.stringContaining('above the highest') as unknown,
  });
});
