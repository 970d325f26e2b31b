import { Webhook } from 'standardwebhooks';
import {
  BursarError,
  createClient,
  verifyWebhook,
  type WebhookEvent,
  type WebhookVerificationError,
} from '../../client/src/index.js';
import { eventually } from '../support/eventually.js';
import { startListening, type Listening } from '../support/listening.js';
import type { Received } from '../support/receiver.js';
import { transferBody, type TestTenant } from '../support/tenant.js';

let all: Listening;
let tenant: TestTenant;

beforeAll(async () => {
  all = await startListening({}, { oneProcess: true });
  tenant = await all.service.tenant();
});

afterAll(async () => {
  await all?.close();
});

describe('calls', () => {
  test('the client creates a transfer, waits for it, reads it, lists it, and reads its timeline', async () => {
    const { client } = tenant;
    const body = transferBody();
    const created = await client.createTransfer(body, { wait: 20 });
    expect(created).toMatchObject({
      data: { status: 'completed', reference: body.reference },
      replayed: false,
      requestId: expect.stringMatching(/^req_/),
    });
    const { id } = created.data;
    expect((await client.getTransfer({ id })).data).toEqual(created.data);
    const { data, pagination } = await client.listTransfers({ reference: body.reference });
    expect([data, pagination.total]).toEqual([[created.data], 1]);
    const { data: steps } = await client.getTransferTimeline({ id, limit: 2 });
    expect(steps.map(({ type }) => type)).toEqual(['accepted', 'submitted']);
    const { data: whose } = await client.resolveAccount({
      recipient_account: created.data.recipient_account,
      recipient_bank_code: '058',
    });
    expect(whose.recipient_name).toBe(created.data.recipient_name);
  });

  test('the client iterates over all pages of a list without duplicates, although items are added meanwhile', async () => {
    const own = await all.service.tenant();
    const transfers = Array.from({ length: 120 }, () => transferBody('002'));
    const { data: bulk } = await own.client.createBulkTransfer({ transfers });
    expect(bulk.counts.accepted).toBe(120);
    const ids: string[] = [];
    for await (const { id } of own.client.listTransfers.all()) {
      ids.push(id);
      if (ids.length === 50)
        await own.client.createBulkTransfer({ transfers: [transferBody(), transferBody()] });
    }
    expect(ids).toHaveLength(120);
    expect(new Set(ids)).toEqual(new Set(bulk.items.map(({ id }) => id)));
    const banks: string[] = [];
    for await (const { code } of tenant.client.listBanks.all({ limit: 7 })) banks.push(code);
    expect(banks).toEqual((await tenant.client.listBanks()).data.map(({ code }) => code));
  });

  test('a parameter never changes the path of a request', async () => {
    for (const id of ['', '.', '..']) {
      await expect(tenant.client.getTransfer({ id })).rejects.toThrow(TypeError);
    }
    await expect(tenant.client.getTransfer({ id: '../transfers?limit=1' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('errors', () => {
  const caught = async (call: Promise<unknown>): Promise<BursarError> => {
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    if (!(error instanceof BursarError)) throw new Error('no BursarError', { cause: error });
    return error;
  };

  test('an error of the client has the code, the field, the details and the request id', async () => {
    const { client } = tenant;
    expect(
      await caught(client.createTransfer({ ...transferBody(), amount_minor: 0.5 })),
    ).toMatchObject({
      code: 'validation_error',
      status: 400,
      field: 'amount_minor',
      details: { issues: [{ field: 'amount_minor' }] },
      requestId: expect.stringMatching(/^req_/),
      outcomeUnknown: false,
    });
    const poor = await all.service.tenant({ balanceMinor: 10 });
    expect(await caught(poor.client.createTransfer(transferBody()))).toMatchObject({
      code: 'insufficient_balance',
      details: { available: 10 },
    });
    expect(await caught(client.getTransfer({ id: `trf_${'0'.repeat(26)}` }))).toMatchObject({
      code: 'not_found',
    });
  });

  test('an error of the client has the seconds of Retry-After, for 429 and for a bank that is unavailable', async () => {
    const { id } = await all.service.deps.tenants.create({
      name: 'A busy one',
      plan: 'starter',
      ratePerMinute: 1,
    });
    const made = await all.service.deps.apiKeys.create({
      tenantId: id,
      level: 'read',
      kind: 'secret',
    });
    const { client } = tenant.at(all.service.api.url);
    const busy = createClient({ baseUrl: all.service.api.url, key: made.key, maxRetries: 0 });
    // A count that takes too long lets its requests pass.
    const refused = await eventually('a call is refused', async () => {
      const calls = await Promise.allSettled(Array.from({ length: 6 }, () => busy.listTransfers()));
      return calls.find((call) => call.status === 'rejected');
    });
    expect(refused.reason).toMatchObject({
      code: 'rate_limit_exceeded',
      status: 429,
      retryAfterSeconds: expect.any(Number),
      details: { window: '1m' },
    });

    await all.service.bank.kill();
    const account = { recipient_account: '0123400789', recipient_bank_code: '058' };
    const away = await caught(client.resolveAccount(account));
    expect(away).toMatchObject({ code: 'service_unavailable', status: 503, outcomeUnknown: false });
    expect(away.retryAfterSeconds).toBeGreaterThan(0);
    // With retries, the same call succeeds once the bank is back.
    const patient = createClient({ baseUrl: all.service.api.url, key: tenant.key });
    const answered = patient.resolveAccount(account);
    await all.service.bank.start();
    expect((await answered).data.recipient_account).toBe(account.recipient_account);
  });

  test('no error of the client contains the API key', async () => {
    const key = `sk_sandbox_${'x'.repeat(40)}`;
    const wrong = createClient({ baseUrl: all.service.api.url, key });
    const error = await caught(wrong.listTransfers());
    expect(error.status).toBe(401);
    const settings = { baseUrl: all.service.api.url, key: `${key}\n` };
    const misused = (() => {
      try {
        return createClient(settings);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(misused).toBeInstanceOf(TypeError);
    for (const each of [error, misused as Error]) {
      expect(`${each.stack} ${JSON.stringify(each)}`).not.toContain(key);
    }
  });
});

describe('webhooks', () => {
  let at: Awaited<ReturnType<Listening['receiver']>>;
  let secret: string;
  let one: Received;
  let id: string;

  beforeAll(async () => {
    at = await all.receiver();
    const listener = await all.tenant(at);
    secret = listener.secret;
    id = await listener.tenant.send();
    one = await eventually('the event of its end has arrived', () =>
      at.received.find(({ body }) => body.includes('transfer.completed')),
    );
  });

  const refusedFor = (reason: WebhookVerificationError['reason']) =>
    expect.objectContaining({ name: 'WebhookVerificationError', reason });

  test('the client verifies webhooks, with every form of body and headers', async () => {
    const event: WebhookEvent = await verifyWebhook(secret, one.headers, one.body);
    if (event.event !== 'transfer.completed') throw new Error(event.event);
    expect([event.data.id, event.data.status, event.sequence]).toEqual([id, 'completed', 2]);
    const names = Object.entries(one.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const headers = new Headers(names);
    expect(await verifyWebhook([secret], headers, Buffer.from(one.body))).toEqual(event);
    const upper = Object.fromEntries(names.map(([name, value]) => [name.toUpperCase(), value]));
    expect(await verifyWebhook(secret, upper, new TextEncoder().encode(one.body))).toEqual(event);
  });

  test('the client refuses webhooks that were changed, have another signature, or have none', async () => {
    const other = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const wrong = refusedFor('wrong_signature');
    await expect(verifyWebhook(secret, one.headers, `${one.body} `)).rejects.toEqual(wrong);
    await expect(verifyWebhook(other, one.headers, one.body)).rejects.toEqual(wrong);
    const renamed = { ...one.headers, 'webhook-id': 'evt_other' };
    await expect(verifyWebhook(secret, renamed, one.body)).rejects.toEqual(wrong);
    for (const signature of ['v1,', 'v1,%', 'v1a,x', 'v2,x', ' ', ',']) {
      const headers = { ...one.headers, 'webhook-signature': signature };
      await expect(verifyWebhook(secret, headers, one.body)).rejects.toEqual(wrong);
    }
    await expect(verifyWebhook(secret, {}, one.body)).rejects.toEqual(refusedFor('missing_header'));
    await expect(verifyWebhook('', one.headers, one.body)).rejects.toThrow(TypeError);
  });

  test('the client refuses signed webhooks that are older than the receiver’s tolerance', async () => {
    const sign = (secondsAgo: number) => {
      const time = new Date(Date.now() - secondsAgo * 1000);
      return {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('evt_1', time, one.body),
      };
    };
    const verify = (secondsAgo: number, options?: { toleranceSeconds: number }) =>
      verifyWebhook(secret, sign(secondsAgo), one.body, options);
    await expect(verify(200)).resolves.toMatchObject({ data: { id } });
    for (const age of [400, -400]) {
      await expect(verify(age)).rejects.toEqual(refusedFor('wrong_time'));
    }
    await expect(verify(400, { toleranceSeconds: 600 })).resolves.toMatchObject({ data: { id } });
    const unclear = { ...sign(0), 'webhook-timestamp': 'now' };
    await expect(verifyWebhook(secret, unclear, one.body)).rejects.toEqual(
      refusedFor('wrong_time'),
    );
  });

  test('during a rotation the client verifies webhooks with either secret, or with a list of both', async () => {
    const at = await all.receiver();
    const { tenant, id: endpoint, secret: old } = await all.tenant(at);
    const rotated = await all.webhooks.endpoints.rotate(endpoint, 60_000);
    const fresh = String(rotated?.secret);
    await all.waitForEvents(at, await tenant.send(), 2);
    for (const { headers, body } of at.received) {
      const event = await verifyWebhook(old, headers, body);
      for (const known of [fresh, [old, fresh], [secret, fresh]]) {
        expect(await verifyWebhook(known, headers, body)).toEqual(event);
      }
    }
  });
});
