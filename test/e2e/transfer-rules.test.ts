import { callbackSender } from '../support/callbacks.js';
import { eventually } from '../support/eventually.js';
import { shareService, type Service } from '../support/service.js';
import { transferBody, type TestTenant } from '../support/tenant.js';

let service: Service;

beforeAll(async () => {
  service = await shareService();
});

afterAll(async () => {
  await service?.close();
});

test('the older field names of the recipient create the same transfer; the recipient’s name is the bank’s', async () => {
  const tenant = await service.tenant();
  const { recipient_account, recipient_bank_code, ...rest } = transferBody();
  const older = {
    ...rest,
    destination_account_number: recipient_account,
    destination_bank_code: recipient_bank_code,
    destination_account_name: 'Somebody Else',
  };
  const { status, body } = await tenant.transfer(older);
  expect(status).toBe(201);
  expect(body.data).toMatchObject({
    recipient_account,
    recipient_bank_code,
    recipient_name: expect.stringMatching(/^[A-Z]+ [A-Z]+$/) as string,
  });
  expect(Object.keys(body.data).filter((name) => name.startsWith('destination_'))).toEqual([]);
  await tenant.waitFor(body.data.id, 'completed');
  for (const missing of ['destination_account_number', 'destination_bank_code']) {
    const { [missing]: _left, ...part } = older as Record<string, unknown>;
    const refused = await tenant.transfer(part);
    expect([refused.status, refused.body.error.field]).toEqual([400, missing]);
  }
});

test('a refusal by the daily limit has limit and use, and a failed or reversed transfer restores the limit', async () => {
  const tenant = await service.tenant({ dailyLimitMinor: 400_000n });
  const refused = await tenant.send('002');
  await tenant.waitFor(refused, 'failed');
  const reversed = await tenant.send('008');
  await tenant.waitFor(reversed, ({ reversed_at: at }) => at !== null);

  for (let i = 0; i < 2; i += 1) await tenant.waitFor(await tenant.send(), 'completed');
  const over = await tenant.transfer(transferBody());
  expect([over.status, over.body.error]).toMatchObject([
    422,
    { code: 'limit_exceeded', details: { limit: 400_000, used: 300_000 } },
  ]);
  expect((await tenant.transfer(transferBody('789', { amount_minor: 100_000 }))).status).toBe(201);
});

describe('GET /transfers', () => {
  let tenant: TestTenant;
  /** The ids of the transfers, newest first. */
  let ids: string[];
  const amounts = [30_000, 10_000, 20_000, 20_000, 40_000];

  beforeAll(async () => {
    tenant = await service.tenant();
    ids = [];
    for (const amount_minor of amounts) {
      const suffix = amount_minor === 10_000 ? '002' : '789';
      ids.unshift(await tenant.send(suffix, { amount_minor }));
    }
    for (const id of ids) {
      await tenant.waitFor(id, ({ status }) => status === 'completed' || status === 'failed');
    }
  });

  const list = async (query: string) => {
    const { text, status } = await tenant.call('GET', `/transfers?${query}`, undefined);
    expect(status).toBe(200);
    const { data, pagination } = JSON.parse(text);
    return { found: data.map(({ id }: { id: string }) => id), pagination };
  };
  const today = () => new Date().toISOString().slice(0, 10);

  test('the list of transfers is sorted newest first, in pages, with the totals of the filtered records', async () => {
    const first = await list('limit=2');
    expect(first.found).toEqual(ids.slice(0, 2));
    expect(first.pagination).toEqual({ page: 1, limit: 2, total: 5, pages: 3, has_more: true });
    const last = await list('limit=2&page=3');
    expect(last.found).toEqual(ids.slice(4));
    expect(last.pagination).toMatchObject({ page: 3, has_more: false });
  });

  test('a page beyond the end of the list is empty and has the right totals', async () => {
    for (const query of [
      'page=2',
      'page=1000000&limit=100',
      'page=2&status=failed&sort=amount_minor',
    ]) {
      const { found, pagination } = await list(query);
      expect(found).toEqual([]);
      expect(pagination).toMatchObject({
        total: query.includes('failed') ? 1 : 5,
        has_more: false,
      });
    }
  });

  test('the list is filtered by status, with either name of completed', async () => {
    const completed = await list('status=completed');
    expect(completed.found).toEqual(ids.filter((_, i) => i !== 3));
    expect(completed.pagination.total).toBe(4);
    expect(await list('status=successful')).toEqual(completed);
    expect((await list('status=failed')).found).toEqual([ids[3]]);
    expect((await list('status=pending')).pagination.total).toBe(0);
  });

  test('the list is sorted by amount in both directions, with a stable order of equal amounts', async () => {
    const up = (await list('sort=amount_minor')).found;
    expect([up[0], up[3], up[4]]).toEqual([ids[3], ids[4], ids[0]]);
    expect((await list('sort=-amount_minor')).found).toEqual(up.toReversed());
    const within = `start_date=${today()}&end_date=${today()}`;
    expect((await list(`sort=amount_minor&${within}`)).found).toEqual(up);
  });

  test('the list is filtered by day, both ends included, and by reference', async () => {
    const all = `start_date=${today()}&end_date=${today()}`;
    expect((await list(all)).pagination.total).toBe(5);
    expect(await list('end_date=2020-01-01')).toMatchObject({
      found: [],
      pagination: { total: 0 },
    });
    // With the last possible day the total must still match the records.
    const open = await list(`start_date=${today()}&end_date=9999-12-31`);
    expect([open.found.length, open.pagination.total]).toEqual([5, 5]);
    const { reference } = await tenant.get(String(ids[2]));
    const one = await list(`reference=${reference}&${all}&status=completed`);
    expect([one.found, one.pagination.total]).toEqual([[ids[2]], 1]);
    expect((await list(`reference=${reference}&status=failed`)).pagination.total).toBe(0);
  });
});

describe('callbacks of the bank', () => {
  let tenant: TestTenant;
  let callbacks: ReturnType<typeof callbackSender>;
  /** A transfer that is pending at the bank, which a forged callback must not end. */
  let pending: string;
  beforeAll(async () => {
    tenant = await service.tenant();
    callbacks = callbackSender(service);
    pending = await tenant.send('006');
  });
  afterAll(async () => {
    await service.bank.decideTransfer(pending, 'paid');
  });

  const handled = (body: string) =>
    eventually('the callback was applied', () => callbacks.outcomeOf(body));
  const outcomes = async (id: string) =>
    (await tenant.stored(id)).timeline.filter(({ type }) => type === 'captured');

  test.each([
    ['signed with another secret', 401, 'invalid_signature', { secret: 'some other secret' }],
    ['another body than was signed', 401, 'invalid_signature', { instead: '{"id":"evt_1"}' }],
    ['signed ten minutes ago', 401, 'invalid_signature', { ageSeconds: 600 }],
    ['signed in ten minutes', 401, 'invalid_signature', { ageSeconds: -600 }],
    ['for a provider that is none', 401, 'invalid_signature', { provider: 'no-bank' }],
    ['of 5 MB', 413, 'payload_too_large', { instead: 'x'.repeat(5 * 1024 * 1024) }],
  ])(
    'a callback with %s is answered with %i; nothing is stored and no money moves',
    async (_name, status, code, options) => {
      const before = await callbacks.countStored();
      const reply = await callbacks.post(callbacks.about(pending, 'transfer.paid'), options);
      expect(reply).toEqual({ status, code, data: undefined });
      expect(await callbacks.countStored()).toBe(before);
      expect((await tenant.get(pending)).status).not.toBe('completed');
    },
  );

  test('a signed callback that is unreadable or of another provider’s form is answered with 200, stored for an operator, and has no effect', async () => {
    const before = await callbacks.countStored();
    const bodies = [
      '',
      'paid',
      'null',
      '[]',
      '\u0000\ufffd',
      JSON.stringify({ event: 'charge.success', data: { reference: pending, amount: 150_000 } }),
      callbacks.about(pending, 'transfer.celebrated'),
      callbacks.about(pending, 'charge.paid'),
      callbacks.about(pending, 'refund.refunded'),
      callbacks.about(pending, 'transfer.paid', { amount_minor: 1_500.5 }),
      callbacks.about(pending, 'transfer.paid', { currency: 'USD' }),
      callbacks.about(pending, 'transfer.paid', { reference: { $ne: null } }),
    ];
    for (const body of [...bodies, ...bodies]) {
      expect(await callbacks.post(body)).toMatchObject({ status: 200, data: { received: true } });
    }
    expect(await callbacks.countStored()).toBe(before + bodies.length);
    const { db } = service.deps.database;
    const failed = {
      reading: 'unreadable',
      status: 'failed',
      'attention.since': { $type: 'date' },
    };
    expect(await db.collection('provider_events').countDocuments(failed as object)).toBe(
      bodies.length,
    );
    expect((await tenant.get(pending)).status).not.toBe('completed');
  });

  test('ten equal callbacks are answered with 200 each, stored once, and applied once', async () => {
    const id = await tenant.send();
    const { session_id } = await tenant.waitFor(id, 'completed');
    const before = await callbacks.countStored();
    const body = callbacks.about(id, 'transfer.paid', { session_id });
    const replies = await Promise.all(Array.from({ length: 10 }, () => callbacks.post(body)));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(await handled(body)).toBe('unchanged');
    expect(await callbacks.countStored()).toBe(before + 1);
    expect(await outcomes(id)).toHaveLength(1);
  });

  test('a callback before the answer to the request completes the transfer, which is paid once whatever the answer', async () => {
    // The bank pays, and its answer never comes.
    const id = await tenant.send('004');
    const paid = await eventually('the bank has paid', async () =>
      (await service.bank.journal(id)).find(({ kind }) => kind === 'paid'),
    );
    const { session_id } = paid;
    await callbacks.post(callbacks.about(id, 'transfer.paid', { session_id }));
    expect(await tenant.waitFor(id, 'completed')).toMatchObject({ session_id });
    await eventually('the order has timed out', async () =>
      (await tenant.stored(id)).timeline.some(({ detail }) => detail?.includes('timeout'))
        ? true
        : undefined,
    );
    expect(await outcomes(id)).toHaveLength(1);
    expect(await service.bank.journal(id)).toHaveLength(1);
  });

  test('a callback about a payment after its reversal does not change the transfer', async () => {
    const id = await tenant.send('008');
    const { session_id } = await tenant.waitFor(id, ({ reversed_at: at }) => at !== null);
    const late = callbacks.about(id, 'transfer.paid', { session_id });
    await callbacks.post(late);
    expect(await handled(late)).toBe('stale');
    expect(await tenant.get(id)).toMatchObject({ status: 'failed', failure: { code: 'reversed' } });
  });

  test('a callback about an unknown transfer is answered with 200 and stored, and creates no transfer', async () => {
    const body = callbacks.about('trf_01m7yr04qfeh29r645zf36b5fg', 'transfer.paid');
    expect(await callbacks.post(body)).toMatchObject({ status: 200 });
    expect(await handled(body)).toBe('unknown_reference');
    const { db } = service.deps.database;
    expect(
      await db
        .collection('postings')
        .countDocuments({ _id: { $regex: '^trf_01m7yr04q' } } as object),
    ).toBe(0);
  });
});

test('afterwards the ledger balances and agrees with the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
