import { approvedPayload } from '../support/approvals.js';
import { acceptedIds, bulkClient, type BatchReply } from '../support/bulk.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, ORDER_TOTAL_MINOR, type TestTenant } from '../support/tenant.js';

let service: Service;

beforeAll(async () => {
  service = await startService({
    apis: 2,
    bank: { deduplicate: false },
    env: { BURSAR_ATTENTION_AFTER_MS: '6000' },
  });
});

afterAll(async () => {
  await service?.close();
});

const bodies = (count: number, suffix?: string) =>
  Array.from({ length: count }, () => transferBody(suffix));

const transfersOf = ({ id }: TestTenant) =>
  service.deps.database.db.collection('transfers').countDocuments({ tenant_id: id });

const errors = ({ body }: BatchReply) =>
  body.data.items.map((item) => ('error' in item ? item.error : null));

describe('POST /transfers/bulk', () => {
  test('each item of a bulk transfer is accepted or refused on its own, with the error of a single transfer', async () => {
    const tenant = await service.tenant({ balanceMinor: 3 * ORDER_TOTAL_MINOR + 200_000 });
    const bulk = bulkClient(tenant);
    const used = transferBody();
    await tenant.transfer(used);
    const [first, last] = [transferBody(), transferBody()];
    const items: unknown[] = [
      first,
      { ...transferBody(), amount_minor: 1.5 },
      transferBody('789', { reference: first.reference }),
      transferBody('003'),
      { ...transferBody(), reference: used.reference },
      transferBody('789', { amount_minor: 500_000_001 }),
      transferBody('789', { amount_minor: 400_000_000 }),
      { ...transferBody(), idempotency_key: 'not here' },
      { ...transferBody(), surprise: 1 },
      'not an object',
      null,
      { destination_account_number: '0123456789', destination_bank_code: '058' },
      last,
    ];
    const reply = await bulk.send(items);
    expect(reply.status).toBe(201);
    const { data } = reply.body;
    expect(data.id).toMatch(/^btr_/);
    expect(reply.headers.get('location')).toBe(`/api/v1/transfers/bulk/${data.id}`);
    expect(errors(reply).map((error) => error && [error.code, error.field])).toEqual([
      null,
      ['validation_error', 'amount_minor'],
      ['duplicate_reference', 'reference'],
      ['invalid_account', undefined],
      ['duplicate_reference', 'reference'],
      ['validation_error', 'amount_minor'],
      ['insufficient_balance', undefined],
      ['validation_error', 'idempotency_key'],
      ['validation_error', 'surprise'],
      ['validation_error', 'body'],
      ['validation_error', 'body'],
      ['validation_error', 'amount_minor'],
      null,
    ]);
    expect(errors(reply)[2]?.details).toEqual({ id: acceptedIds(data)[0] });
    expect(data.items.map(({ index }) => index)).toEqual(items.map((_, i) => i));
    expect([data.items[0]?.reference, data.items[2]?.reference, data.items[12]?.reference]).toEqual(
      [first.reference, first.reference, last.reference],
    );
    expect(data.counts).toEqual({
      total: 13,
      accepted: 2,
      refused: 11,
      pending: 2,
      processing: 0,
      completed: 0,
      failed: 0,
    });

    expect((await bulk.ended(data.id)).counts).toMatchObject({ accepted: 2, completed: 2 });
    for (const id of acceptedIds(data)) {
      expect(await service.bank.journal(id)).toHaveLength(1);
    }
    // A refused item has used up neither its reference nor its balance.
    const again = await tenant.transfer(transferBody('789', { amount_minor: 10_000 }));
    expect(again.status).toBe(201);
    expect(await transfersOf(tenant)).toBe(4);
  });

  test('a bulk transfer of a thousand items ends with every outcome that the bank has', async () => {
    const tenant = await service.tenant({ balanceMinor: 1_000 * ORDER_TOTAL_MINOR });
    const bulk = bulkClient(tenant);
    const special = ['001', '002', '004', '005', '006', '007', '008', '009', '010', '011'];
    const items = [...special.map((suffix) => transferBody(suffix)), ...bodies(990)];
    const reply = await bulk.send(items, { headers: { prefer: 'wait=0' } });
    expect([reply.status, reply.body.data.counts.accepted]).toEqual([201, 1_000]);
    const ids = acceptedIds(reply.body.data);
    const of = (suffix: string) => String(ids[special.indexOf(suffix)]);

    const counts = await eventually(
      'all have ended that can',
      async () => {
        const { data } = (await bulk.get(reply.body.data.id)).body;
        return data.counts.completed === 996 && data.counts.failed === 2 ? data.counts : undefined;
      },
      240_000,
    );
    expect(counts).toMatchObject({ total: 1_000, refused: 0, pending: 0, processing: 2 });
    for (const suffix of ['001', '004', '007', '009', '010', '011']) {
      expect(await tenant.get(of(suffix))).toMatchObject({ status: 'completed' });
    }
    for (const suffix of ['002', '008']) {
      expect(await tenant.get(of(suffix))).toMatchObject({ status: 'failed' });
    }
    for (const suffix of ['005', '006']) {
      await tenant.waitFor(of(suffix), ({ attention }) => attention !== null);
    }
    const effects = await service.bank.journal();
    const paid = effects.filter(({ kind }) => kind === 'paid').map(({ reference }) => reference);
    expect(ids.filter((id) => paid.includes(id))).toHaveLength(997);
    expect(new Set(paid).size).toBe(paid.length);

    await service.bank.decideTransfer(of('006'), 'paid');
    await tenant.waitFor(of('006'), 'completed');
    const given = { actor: 'ada', reason: 'given up', session_id: null, force: true };
    const lost = await tenant.stored(of('005'));
    const command = await approvedPayload(service.deps, 'transfers', lost, given);
    await service.deps.transfers.starter.command(lost, 'fail', command);
    await bulk.ended(reply.body.data.id);
  }, 400_000);

  test('concurrent and later requests with one idempotency key create one bulk transfer with one answer', async () => {
    const tenant = await service.tenant();
    const at = service.apis.map(({ url }) => bulkClient(tenant.at(url)));
    const [one, other] = at as [(typeof at)[0], (typeof at)[0]];
    const items = [...bodies(20), { ...transferBody(), narration: '' }];
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        (i % 2 === 0 ? one : other).send(items, { key: 'one batch' }),
      ),
    );
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([201]));
    expect(new Set(replies.map((reply) => reply.text)).size).toBe(1);
    expect(await transfersOf(tenant)).toBe(20);
    const id = String(replies[0]?.body.data.id);
    await one.ended(id);

    const late = await one.send(items, { key: 'one batch' });
    expect([late.text, late.headers.get('idempotent-replayed')]).toEqual([
      replies[0]?.text,
      'true',
    ]);
    const reused = await one.send(items.slice(1), { key: 'one batch' });
    expect([reused.status, reused.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    const body = { transfers: items, idempotency_key: 'one batch' };
    const inBody = await tenant.call('POST', '/transfers/bulk', JSON.stringify(body));
    expect(inBody.text).toBe(replies[0]?.text);
  });

  test('with Prefer: wait a bulk transfer is answered when all its items have ended', async () => {
    const tenant = await service.tenant();
    const bulk = bulkClient(tenant);
    const reply = await bulk.send([...bodies(30), transferBody('002')], {
      headers: { prefer: 'wait=20' },
    });
    expect(reply.headers.get('preference-applied')).toBe('wait=20');
    expect(reply.body.data).toMatchObject({
      status: 'completed',
      counts: { completed: 30, failed: 1 },
    });
    expect((await bulk.get(reply.body.data.id)).body.data).toEqual(reply.body.data);
  });

  /** Retries as a client does: with the same key, when the answer says so. */
  async function answered(client: Pick<TestTenant, 'transfer'>) {
    const body = transferBody();
    for (;;) {
      const reply = await client.transfer(body, { key: body.reference });
      if (reply.status !== 503) return reply;
    }
  }

  test('single transfers of two processes and a bulk transfer on one wallet all get their answers', async () => {
    const tenant = await service.tenant({ balanceMinor: 460 * ORDER_TOTAL_MINOR });
    const clients = service.apis.map(({ url }) => tenant.at(url));
    const singles = clients.flatMap((client) =>
      Array.from({ length: 60 }, (_, i) =>
        // Spread over time, so that they arrive before, during and after the bulk transfers.
        new Promise((resolve) => setTimeout(resolve, i * 15)).then(() => answered(client)),
      ),
    );
    const batches = clients.map((client) => bulkClient(client).send(bodies(200)));
    const replies = await Promise.all(singles);
    const accepted = (await Promise.all(batches)).map(({ body }) => body.data.counts.accepted);
    const made = replies.filter(({ status }) => status === 201).length;
    expect(replies.every(({ status }) => status === 201 || status === 422)).toBe(true);
    expect(made + (accepted[0] ?? 0) + (accepted[1] ?? 0)).toBe(460);
    expect((await tenant.balance()).available).toBe(0);
  });
});

describe('invalid bulk transfers', () => {
  let tenant: TestTenant;
  beforeAll(async () => {
    tenant = await service.tenant();
  });

  test.each<[name: string, field: string, body: Record<string, unknown>]>([
    ['none', 'transfers', { transfers: [] }],
    ['1,001', 'transfers', { transfers: Array.from({ length: 1_001 }, () => 1) }],
    ['no list', 'transfers', { transfers: transferBody() }],
    ['nothing at all', 'transfers', {}],
    ['a surprise', 'surprise', { transfers: [transferBody()], surprise: 1 }],
    ['a key that is none', 'idempotency_key', { transfers: [transferBody()], idempotency_key: '' }],
    ['an operator', 'transfers.0.$where', { transfers: [{ $where: '1' }] }],
  ])('an invalid bulk transfer is refused as a whole: %s', async (_name, field, body) => {
    const reply = await tenant.call('POST', '/transfers/bulk', JSON.stringify(body));
    expect([reply.status, reply.body.error.code, reply.body.error.field]).toEqual([
      400,
      'validation_error',
      field,
    ]);
  });

  test('the answer to an item with very many errors is bounded', async () => {
    const mistakes = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`no_${i}`, i]));
    const reply = await bulkClient(await service.tenant()).send([mistakes, transferBody()]);
    expect(reply.status).toBe(201);
    expect(errors(reply)[0]?.details?.issues).toHaveLength(10);
    expect(errors(reply)[1]).toBeNull();
  });

  test('a bulk transfer of more than 1 MB is refused', async () => {
    const body = { transfers: [{ ...transferBody(), narration: 'x'.repeat(1024 * 1024) }] };
    const reply = await tenant.call('POST', '/transfers/bulk', JSON.stringify(body));
    expect([reply.status, reply.body.error.code]).toEqual([413, 'payload_too_large']);
  });

  test('a read key may not create a bulk transfer, and another tenant does not find one', async () => {
    const level = { tenantId: tenant.id, level: 'read', kind: 'secret' } as const;
    const { key } = await service.deps.apiKeys.create(level);
    const headers = { authorization: `Bearer ${key}` };
    const reply = await bulkClient(tenant).send(bodies(1), { headers });
    expect(reply.status).toBe(403);

    const { body } = await bulkClient(tenant).send(bodies(1));
    const other = bulkClient(await service.tenant());
    for (const id of [body.data.id, 'btr_01m7yr04qfeh29r645zf36b5fg', 'nothing']) {
      const found = await other.get(id);
      expect([found.status, found.body.error.code]).toEqual([404, 'not_found']);
    }
  });
});

test('afterwards the ledger balances and agrees with the bank, and no account number was logged', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
  expect(service.logs()).not.toMatch(/0123456\d{3}/);
});
